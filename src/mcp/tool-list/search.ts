/**
 * Two tools in place of the whole list: one finds tools, the other runs the one that was found.
 *
 * Neither keeps anything between calls, and neither has a right of its own: what is found is what may be
 * called, and a call is made under every rule of the tool that it names.
 */
import type { CallToolResult, Tool as WireTool } from "@modelcontextprotocol/server";
import { parseJson } from "../../../tools/contract/index.ts";
import type { ListedTool } from "./definitions.ts";

export const searchToolsName = "search_tools";
export const executeToolName = "execute_tool";

/** Schemas are most of a tool's size: only the best matches come with theirs. */
const maxSchemas = 5;
const maxResults = 20;

const searchTool = {
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

/** What is wrong with the arguments of one of the two. */
export class SearchInputError extends Error {
  override readonly name = "SearchRefusal";
}

type Arguments = Readonly<Record<string, unknown>>;

/** Answers `search_tools`. @throws SearchRefusal */
export function searchTools(tools: readonly ListedTool[], given: Arguments): CallToolResult {
  rejectUnknown(given, searchTool.inputSchema.properties);
  const { query = "" } = given;
  const limit = Number(given.limit ?? maxSchemas);
  if (typeof query !== "string" || !(limit >= 1)) {
    throw new SearchInputError("query takes a text, and limit a whole number from 1 to 20.");
  }
  const ranked = rankTools(tools, query);
  const found = ranked.slice(0, Math.min(Math.floor(limit), maxResults)).map(({ definition }, index) => ({
    name: definition.name,
    description: definition.description,
    annotations: definition.annotations,
    ...(index < maxSchemas ? { input_schema: definition.inputSchema } : {}),
  }));
  const names = tools.map(({ name }) => name);
  const answer = { tools: found, total: ranked.length, ...(found.length === 0 ? { known: names } : {}) };
  return { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: answer };
}

/** Reads the arguments of `execute_tool`. @throws SearchRefusal */
export function readExecuteArguments(given: Arguments): { name: string; arguments: Arguments } {
  rejectUnknown(given, executeTool.inputSchema.properties);
  const { name } = given;
  const inner = typeof given.arguments === "string" ? parseJson(given.arguments) : (given.arguments ?? {});
  if (typeof name !== "string" || typeof inner !== "object" || inner === null || Array.isArray(inner)) {
    throw new SearchInputError("name takes a tool's name, and arguments an object.");
  }
  return { name, arguments: inner as Arguments }; // an object with text keys, as just seen
}

function rejectUnknown(given: Arguments, known: object): void {
  const unknown = Object.keys(given).filter((name) => !(name in known));
  if (unknown.length > 0) {
    throw new SearchInputError(
      `Unknown argument: ${unknown.join(", ")}. Known arguments: ${Object.keys(known).join(", ")}.`,
    );
  }
}

/** The tools that share words with the query, best first: a rare word says more, and the name says most. */
export function rankTools(tools: readonly ListedTool[], query: string): ListedTool[] {
  const queryWords = [...new Set(wordsOf(query))];
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
        return { tool, points: points.reduce((sum, one) => sum + one, 0) };
      })
      .filter(({ points }) => points > 0)
      // Of equals, the one that does no harm.
      .sort((a, b) => b.points - a.points || riskOf(a.tool) - riskOf(b.tool))
      .map(({ tool }) => tool)
  );
}

interface ToolWords {
  readonly name: readonly string[];
  readonly title: readonly string[];
  readonly description: readonly string[];
}

/** A word, or what people say in its place, which counts a little less. */
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
function scoreMatch(words: readonly string[], word: string): number {
  const begins = (one: string) => one.startsWith(word) || (one.length > 3 && word.startsWith(one));
  return words.includes(word) ? 1 : words.some(begins) ? 0.5 : 0;
}

/** Lower case, and plurals as one. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => word.length > 1).map((word) => word.replace(/(?<=\w{3})s$/, ""));
}
