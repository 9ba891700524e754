/**
 * The two tools of search mode, which replace the list: one finds tools, the other runs a tool by name.
 *
 * Both are stateless and grant nothing: only callable tools are found, and a call is checked like a direct
 * call of the named tool.
 */
import type { CallToolResult, Tool as WireTool } from "@modelcontextprotocol/server";
import { parseJson } from "../../../tools/contract/index.ts";
import type { ListedTool } from "./definitions.ts";

export const searchToolsName = "search_tools";
export const executeToolName = "execute_tool";

/** Schemas are most of a tool's size, so only the best matches include them. */
const maxSchemas = 5;
const maxResults = 20;

/** Every word is compared with all words of all tools. */
const maxQueryLength = 1_000;
const maxQueryWords = 30;

const searchTool = {
  name: searchToolsName,
  title: "Search tools",
  description:
    "Find tools for a task by keywords. Returns names and descriptions, with the input schema of the best matches. Run one with execute_tool.",
  inputSchema: {
    type: "object" as const,
    properties: {
      query: { type: "string", description: 'The task, for example "send a message"' },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: maxResults,
        default: maxSchemas,
        description: "How many tools to find, at most 20",
      },
    },
    required: ["query"],
    additionalProperties: false,
  },
  annotations: {
    title: "Search tools",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
};

const executeTool = {
  name: executeToolName,
  title: "Execute tool",
  description:
    "Run a tool that search_tools found, with arguments that match its input schema. Returns the tool's answer.",
  inputSchema: {
    type: "object" as const,
    properties: {
      name: { type: "string", description: "A name from search_tools" },
      arguments: { type: "object", properties: {}, description: "The tool's arguments; {} if it takes none" },
    },
    required: ["name"],
    additionalProperties: false,
  },
};

/** The definitions for a client; the hints of execute_tool depend on the tools that it can run. */
export function searchToolDefinitions(isReadOnly: boolean): WireTool[] {
  const hints = {
    title: executeTool.title,
    readOnlyHint: isReadOnly,
    destructiveHint: !isReadOnly,
    idempotentHint: isReadOnly,
    openWorldHint: !isReadOnly,
  };
  return [searchTool, { ...executeTool, annotations: hints }];
}

/** The arguments of one of the two tools are invalid. */
export class SearchInputError extends Error {
  override readonly name = "SearchInputError";
}

type Arguments = Readonly<Record<string, unknown>>;

/** Runs `search_tools`. @throws SearchInputError */
export function searchTools(tools: readonly ListedTool[], input: Arguments): CallToolResult {
  rejectUnknown(input, searchTool.inputSchema.properties);
  const { query = "" } = input;
  const sentLimit = input.limit ?? maxSchemas;
  // Converting an object could throw.
  const limit = typeof sentLimit === "object" ? Number.NaN : Number(sentLimit);
  if (typeof query !== "string" || query.length > maxQueryLength || !(limit >= 1)) {
    throw new SearchInputError(
      `query takes a string of at most ${maxQueryLength} characters, and limit a whole number from 1 to ${maxResults}.`,
    );
  }
  const ranked = rankTools(tools, query);
  const matches = ranked.slice(0, Math.min(Math.floor(limit), maxResults)).map(({ definition }, index) => ({
    name: definition.name,
    description: definition.description,
    annotations: definition.annotations,
    ...(index < maxSchemas ? { input_schema: definition.inputSchema } : {}),
  }));
  const names = tools.map(({ name }) => name);
  const answer = { tools: matches, total: ranked.length, ...(matches.length === 0 ? { known: names } : {}) };
  return { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: answer };
}

/** Reads the arguments of `execute_tool`. @throws SearchInputError */
export function readExecuteArguments(input: Arguments): { name: string; arguments: Arguments } {
  rejectUnknown(input, executeTool.inputSchema.properties);
  const { name } = input;
  const inner = typeof input.arguments === "string" ? parseJson(input.arguments) : (input.arguments ?? {});
  if (typeof name !== "string" || typeof inner !== "object" || inner === null || Array.isArray(inner)) {
    throw new SearchInputError("name takes a tool's name, and arguments an object.");
  }
  return { name, arguments: { ...inner } };
}

function rejectUnknown(input: Arguments, known: object): void {
  const unknown = Object.keys(input).filter((name) => !(name in known));
  if (unknown.length > 0) {
    throw new SearchInputError(
      `Unknown argument: ${unknown.join(", ")}. Known arguments: ${Object.keys(known).join(", ")}.`,
    );
  }
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
  const others = (synonyms[word] ?? []).map((other) => 0.8 * scoreWord(text, other));
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
  audience: ["cohort"],
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
  edit: ["update"],
  erase: ["delete"],
  everyone: ["broadcast"],
  find: ["list", "search"],
  forget: ["delete"],
  fund: ["wallet", "payment"],
  inbox: ["conversation"],
  invoice: ["ledger"],
  look: ["list", "get"],
  mass: ["broadcast"],
  money: ["wallet"],
  newsletter: ["broadcast"],
  paid: ["payment", "ledger"],
  pay: ["payment", "wallet"],
  payment: ["ledger"],
  people: ["contact"],
  person: ["contact"],
  price: ["pricing", "ledger", "wallet"],
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
  text: ["send", "message"],
  thread: ["conversation"],
  transaction: ["ledger"],
  who: ["contact", "whoami"],
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
