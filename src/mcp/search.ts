/**
 * Two tools in place of the whole list: one finds tools, the other runs the one that was found.
 *
 * Neither keeps anything between calls, and neither has a right of its own: what is found is what may be
 * called, and a call is made under every rule of the tool that it names.
 */
import type { CallToolResult, Tool as WireTool } from "@modelcontextprotocol/server";
import { parseJson } from "../../tools/contract/index.ts";
import type { ListedTool } from "./tools.ts";

export const searchToolsName = "search_tools";
export const executeToolName = "execute_tool";

/** Schemas are most of a tool's size: only the best matches come with theirs. */
const withSchema = 5;
const mostFound = 20;

const finder = {
  name: searchToolsName,
  title: "Search tools",
  description:
    "Find the tools for a task by words of it. Answers names and descriptions, with the input schema of the best matches. Run one with execute_tool.",
  inputSchema: {
    type: "object" as const,
    properties: {
      query: { type: "string", description: 'What is to be done, for example "send a message"' },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: mostFound,
        default: withSchema,
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

const runner = {
  name: executeToolName,
  title: "Execute tool",
  description:
    "Run a tool that search_tools found, with arguments as its input schema describes them. The answer is the tool's own.",
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

/** The two as a client sees them; what can be run decides over the second one's hints. */
export function searchWires(isReadOnly: boolean): WireTool[] {
  const hints = {
    title: runner.title,
    readOnlyHint: isReadOnly,
    destructiveHint: !isReadOnly,
    idempotentHint: isReadOnly,
    openWorldHint: !isReadOnly,
  };
  return [finder, { ...runner, annotations: hints }];
}

/** What is wrong with the arguments of one of the two. */
export class SearchRefusal extends Error {
  override readonly name = "SearchRefusal";
}

type Arguments = Readonly<Record<string, unknown>>;

/** Answers `search_tools`. @throws SearchRefusal */
export function search(tools: readonly ListedTool[], given: Arguments): CallToolResult {
  refuseUnknown(given, finder.inputSchema.properties);
  const { query = "" } = given;
  const limit = Number(given.limit ?? withSchema);
  if (typeof query !== "string" || !(limit >= 1)) {
    throw new SearchRefusal("query takes a text, and limit a whole number from 1 to 20.");
  }
  const ranked = rank(tools, query);
  const found = ranked.slice(0, Math.min(Math.floor(limit), mostFound)).map(({ wire }, index) => ({
    name: wire.name,
    description: wire.description,
    annotations: wire.annotations,
    ...(index < withSchema ? { input_schema: wire.inputSchema } : {}),
  }));
  const names = tools.map(({ name }) => name);
  const answer = { tools: found, total: ranked.length, ...(found.length === 0 ? { known: names } : {}) };
  return { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: answer };
}

/** Reads the arguments of `execute_tool`. @throws SearchRefusal */
export function readExecution(given: Arguments): { name: string; arguments: Arguments } {
  refuseUnknown(given, runner.inputSchema.properties);
  const { name } = given;
  const inner = typeof given.arguments === "string" ? parseJson(given.arguments) : (given.arguments ?? {});
  if (typeof name !== "string" || typeof inner !== "object" || inner === null || Array.isArray(inner)) {
    throw new SearchRefusal("name takes a tool's name, and arguments an object.");
  }
  return { name, arguments: inner as Arguments }; // an object with text keys, as just seen
}

function refuseUnknown(given: Arguments, known: object): void {
  const unknown = Object.keys(given).filter((name) => !(name in known));
  if (unknown.length > 0) {
    throw new SearchRefusal(
      `Unknown argument: ${unknown.join(", ")}. Known arguments: ${Object.keys(known).join(", ")}.`,
    );
  }
}

/** The tools that share words with the query, best first: a rare word says more, and the name says most. */
export function rank(tools: readonly ListedTool[], query: string): ListedTool[] {
  const wanted = [...new Set(wordsOf(query))];
  if (wanted.length === 0) {
    return [...tools];
  }
  const texts = tools.map(({ wire }) => ({
    name: wordsOf(wire.name),
    title: wordsOf(wire.title ?? ""),
    description: wordsOf(wire.description ?? ""),
  }));
  const weights = wanted.map((word) => {
    const count = texts.filter((text) => score(text, word) > 0).length;
    return Math.log(1 + tools.length / Math.max(1, count));
  });
  return (
    tools
      .map((tool, index) => {
        const text = texts[index];
        const points = wanted.map((word, at) => (text ? score(text, word) : 0) * (weights[at] ?? 0));
        return { tool, points: points.reduce((sum, one) => sum + one, 0) };
      })
      .filter(({ points }) => points > 0)
      // Of equals, the one that does no harm.
      .sort((a, b) => b.points - a.points || harmOf(a.tool) - harmOf(b.tool))
      .map(({ tool }) => tool)
  );
}

interface Texts {
  readonly name: readonly string[];
  readonly title: readonly string[];
  readonly description: readonly string[];
}

/** A word, or what people say in its place, which counts a little less. */
function score(text: Texts, word: string): number {
  const others = (synonyms[word] ?? []).map((other) => 0.8 * scoreWord(text, other));
  return Math.max(scoreWord(text, word), ...others);
}

function scoreWord({ name, title, description }: Texts, word: string): number {
  return 5 * match(name, word) + 3 * match(title, word) + 0.5 * match(description, word);
}

function harmOf({ wire }: ListedTool): number {
  return wire.annotations?.readOnlyHint ? 0 : wire.annotations?.destructiveHint ? 2 : 1;
}

/** What people say, and the words that the tools use for it. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  answer: ["send", "list"],
  choice: ["message"],
  confirm: ["get"],
  customer: ["contact"],
  delivered: ["get"],
  delivery: ["get"],
  edit: ["update"],
  erase: ["delete"],
  find: ["list", "search"],
  forget: ["delete"],
  inbox: ["conversation"],
  look: ["list", "get"],
  people: ["contact"],
  person: ["contact"],
  read: ["list", "get"],
  remove: ["delete"],
  rename: ["update"],
  reply: ["message", "send"],
  revoke: ["delete"],
  search: ["list"],
  see: ["list", "get"],
  show: ["get", "list"],
  sms: ["send", "message"],
  somebody: ["contact"],
  someone: ["contact"],
  status: ["get"],
  text: ["send", "message"],
  thread: ["conversation"],
  who: ["contact", "whoami"],
  write: ["send"],
  wrote: ["list", "message"],
};

/** A word counts whole, and half where it only begins the same. */
function match(words: readonly string[], word: string): number {
  const begins = (one: string) => one.startsWith(word) || (one.length > 3 && word.startsWith(one));
  return words.includes(word) ? 1 : words.some(begins) ? 0.5 : 0;
}

/** Lower case, and plurals as one. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => word.length > 1).map((word) => word.replace(/(?<=\w{3})s$/, ""));
}
