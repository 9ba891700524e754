/** Searches the tools that a caller can reach. Nothing is stored. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { firstSentence } from "../../../tools/contract/index.ts";
import type { ListedTool } from "./definitions.ts";
import { gatewayOf } from "./gateways.ts";

/** Schemas are most of a tool's size, so only the best matches that are not listed include them. */
const maxSchemas = 5;

const maxQueryWords = 30;

export interface ToolSearch {
  readonly query: string;
  readonly limit: number;
  /** Whether the list has a tool, which is then called directly. */
  isListed(tool: ListedTool): boolean;
}

export function searchTools(
  tools: readonly ListedTool[],
  { query, limit, isListed }: ToolSearch,
): CallToolResult {
  const ranked = rankTools(tools, query);
  const found = ranked.slice(0, limit);
  const unlisted = found.filter((tool) => !isListed(tool));
  const matches = found.map((tool) => ({
    name: tool.name,
    ...(isListed(tool) ? briefly(tool) : inFull(tool, unlisted.indexOf(tool) < maxSchemas)),
  }));
  const names = tools.map(({ name }) => name);
  const answer = { tools: matches, total: ranked.length, ...(matches.length === 0 ? { known: names } : {}) };
  return { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: answer };
}

/** The client has the whole description and the schema in its list. */
function briefly({ name, definition: { description = "" } }: ListedTool) {
  return { description: firstSentence(description), call_with: name };
}

function inFull(tool: ListedTool, hasSchema: boolean) {
  const { description, annotations, inputSchema } = tool.definition;
  return {
    description,
    call_with: gatewayOf(tool),
    ...(annotations?.destructiveHint ? { is_destructive: true } : {}),
    ...(hasSchema ? { input_schema: inputSchema } : {}),
  };
}

/** The tools that match words of the query, best first. Rare words count more, and words in the name most. */
export function rankTools(tools: readonly ListedTool[], query: string): ListedTool[] {
  const queryWords = [...new Set(wordsOf(query))].slice(0, maxQueryWords);
  if (queryWords.length === 0) {
    return [...tools];
  }
  const texts = tools.map(({ definition }) => ({
    name: wordsOf(definition.name),
    title: wordsOf(definition.title ?? ""),
    description: wordsOf(definition.description ?? ""),
  }));
  const weights = queryWords.map((word) => {
    const count = texts.filter((text) => score(text, word) > 0).length;
    return Math.log(1 + tools.length / Math.max(1, count));
  });
  return (
    tools
      .map((tool, index) => {
        const text = texts[index];
        const points = queryWords.map((word, at) => (text ? score(text, word) : 0) * (weights[at] ?? 0));
        return { tool, points: points.reduce((sum, value) => sum + value, 0) };
      })
      .filter(({ points }) => points > 0)
      // Of equals, the one with the lower risk first.
      .sort((a, b) => b.points - a.points || riskOf(a.tool) - riskOf(b.tool))
      .map(({ tool }) => tool)
  );
}

interface ToolWords {
  readonly name: readonly string[];
  readonly title: readonly string[];
  readonly description: readonly string[];
}

/** The score of a word or of its best synonym, which counts a little less. */
function score(text: ToolWords, word: string): number {
  const known = Object.hasOwn(synonyms, word) ? (synonyms[word] ?? []) : [];
  const others = known.map((other) => 0.8 * scoreWord(text, other));
  return Math.max(scoreWord(text, word), ...others);
}

function scoreWord({ name, title, description }: ToolWords, word: string): number {
  return 5 * scoreMatch(name, word) + 3 * scoreMatch(title, word) + 0.5 * scoreMatch(description, word);
}

function riskOf({ definition }: ListedTool): number {
  return definition.annotations?.readOnlyHint ? 0 : definition.annotations?.destructiveHint ? 2 : 1;
}

/** Words of users, and the words that the tools use instead. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  answer: ["send", "list"],
  approval: ["plan"],
  approve: ["plan"],
  audience: ["cohort"],
  audit: ["activity"],
  balance: ["wallet"],
  bill: ["ledger", "wallet"],
  billing: ["subscription", "wallet", "ledger"],
  blast: ["broadcast"],
  bulk: ["broadcast", "import"],
  campaign: ["broadcast"],
  charge: ["ledger"],
  charged: ["ledger"],
  choice: ["message"],
  confirm: ["get"],
  cost: ["ledger", "wallet"],
  credit: ["wallet"],
  customer: ["contact"],
  delivered: ["message"],
  delivery: ["message"],
  did: ["activity", "list"],
  edit: ["update"],
  erase: ["delete"],
  everyone: ["broadcast"],
  find: ["list", "search"],
  forget: ["delete"],
  fund: ["wallet", "payment"],
  history: ["activity", "list"],
  inbox: ["conversation"],
  invoice: ["ledger"],
  log: ["activity"],
  look: ["list", "get"],
  mass: ["broadcast"],
  money: ["wallet"],
  newsletter: ["broadcast"],
  paid: ["payment", "ledger"],
  pay: ["payment", "wallet"],
  payment: ["ledger"],
  people: ["contact"],
  person: ["contact"],
  pending: ["list"],
  plan: ["pricing", "subscription"],
  price: ["pricing", "ledger", "wallet"],
  question: ["qa"],
  read: ["list", "get"],
  refund: ["ledger", "payment"],
  remove: ["delete"],
  rename: ["update"],
  reply: ["message", "send"],
  revoke: ["delete"],
  search: ["list"],
  see: ["list", "get"],
  segment: ["cohort"],
  send: ["execute"],
  show: ["get", "list"],
  sms: ["send", "message"],
  somebody: ["contact", "send"],
  someone: ["contact", "send"],
  spend: ["wallet", "ledger"],
  spending: ["wallet", "ledger"],
  spent: ["ledger", "wallet"],
  status: ["get"],
  stop: ["cancel"],
  text: ["send", "message"],
  thread: ["conversation"],
  transaction: ["ledger"],
  waiting: ["list"],
  who: ["contact", "whoami", "activity"],
  why: ["explain"],
  write: ["send"],
  wrote: ["list", "message"],
};

/** 1 for the whole word, 0.5 for a common prefix. */
function scoreMatch(words: readonly string[], word: string): number {
  const sharesPrefix = (other: string) =>
    other.startsWith(word) || (other.length > 3 && word.startsWith(other));
  return words.includes(word) ? 1 : words.some(sharesPrefix) ? 0.5 : 0;
}

/** The words of a text in lower case and singular; "mass" is singular. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => word.length > 1).map((word) => word.replace(/(?<=\w{2}[^\Ws])s$/, ""));
}
