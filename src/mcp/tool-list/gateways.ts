/**
 * The gateway tools: one finds tools that the mode leaves out of the list, two run them by name. They are two
 * so that a host can allow reads alone.
 *
 * They are stateless and grant nothing: a call is checked like a direct call of the named tool.
 */
import type { Tool as WireTool } from "@modelcontextprotocol/server";
import { parseJson } from "../../../tools/contract/index.ts";
import type { ListedTool } from "./definitions.ts";
import { isRead } from "./filter.ts";

export const searchToolsName = "search_tools";
export const runReadToolName = "run_read_tool";
export const runWriteToolName = "run_write_tool";
/** The former name of the gateway that runs any tool. It is not listed. */
export const executeToolName = "execute_tool";

export const gatewayNames = [searchToolsName, runReadToolName, runWriteToolName, executeToolName] as const;

export type GatewayName = (typeof gatewayNames)[number];

export function isGatewayName(name: string): name is GatewayName {
  return gatewayNames.some((known) => known === name);
}

/** The gateway that runs a tool. */
export function gatewayOf(tool: ListedTool): GatewayName {
  return isRead(tool) ? runReadToolName : runWriteToolName;
}

type Arguments = Readonly<Record<string, unknown>>;

const searchProperties = {
  query: { type: "string", description: "The task in words, like pause a broadcast" },
  limit: { type: "integer", description: "Default 5, at most 20" },
};

const runProperties = {
  name: { type: "string", description: "Tool name" },
  arguments: {
    type: "object",
    description: "By name",
    additionalProperties: true,
  },
};

const readHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const writeHints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** The definitions for a client, of those that reach one of these tools, which the list leaves out. */
export function gatewayDefinitions(unlisted: readonly ListedTool[]): WireTool[] {
  const readable = unlisted.filter(isRead);
  const writing = unlisted.filter((tool) => !isRead(tool));
  const runners = [
    ...(readable.length > 0 ? [readTool(readable)] : []),
    ...(writing.length > 0 ? [writeTool(writing)] : []),
  ];
  return runners.length === 0 ? [] : [searchTool(runners.map(({ name }) => name)), ...runners];
}

function searchTool(runners: readonly string[]): WireTool {
  return {
    name: searchToolsName,
    title: "Search tools",
    description: `Find tools that are not in this list: names, descriptions and input schemas. Run one with ${runners.join(" or ")}.`,
    inputSchema: {
      type: "object",
      properties: searchProperties,
      required: ["query"],
      additionalProperties: false,
    },
    annotations: { title: "Search tools", ...readHints },
  };
}

const runSchema = {
  type: "object",
  properties: runProperties,
  required: ["name"],
  additionalProperties: false,
} as const satisfies WireTool["inputSchema"];

function readTool(reached: readonly ListedTool[]): WireTool {
  return {
    name: runReadToolName,
    title: "Run read tool",
    description: `Run a tool that only reads and is not in this list${nameReached(reached)}`,
    inputSchema: runSchema,
    annotations: { title: "Run read tool", ...readHints },
  };
}

function writeTool(reached: readonly ListedTool[]): WireTool {
  return {
    name: runWriteToolName,
    title: "Run write tool",
    description: `Run a tool that changes or sends something and is not in this list${nameReached(reached)}`,
    inputSchema: runSchema,
    annotations: { title: "Run write tool", ...writeHints },
  };
}

/** More names would be a second list. The modes with shorter lists leave it to the search. */
const maxNamed = 60;

/** The tools with their required arguments, so that a model can call a simple one without a search. */
function nameReached(reached: readonly ListedTool[]): string {
  if (reached.length > maxNamed) {
    return `: found with ${searchToolsName}, or named in a description.`;
  }
  const required = ({ definition }: ListedTool) => (definition.inputSchema.required ?? []).join(", ");
  const byId = reached.filter((tool) => required(tool) === "id").map(({ name }) => name);
  const others = reached
    .filter((tool) => required(tool) !== "id")
    .map((tool) => (required(tool) === "" ? tool.name : `${tool.name}(${required(tool)})`));
  const groups = [byId.length > 0 ? `With id: ${byId.join(" ")}` : "", others.join(" ")];
  return `. ${groups.filter((names) => names !== "").join(". Others: ")}.`;
}

/** The arguments of a gateway are invalid. */
export class GatewayInputError extends Error {
  override readonly name = "GatewayInputError";
}

/** Reads the arguments of the gateways that run a tool. @throws GatewayInputError */
export function readRunArguments(input: Arguments): { name: string; arguments: Arguments } {
  rejectUnknown(input, runProperties);
  const { name } = input;
  const inner = typeof input.arguments === "string" ? parseJson(input.arguments) : (input.arguments ?? {});
  if (typeof name !== "string" || typeof inner !== "object" || inner === null || Array.isArray(inner)) {
    throw new GatewayInputError("name takes a tool's name, and arguments an object.");
  }
  return { name, arguments: { ...inner } };
}

const maxResults = 20;

/** Every word is compared with all words of all tools. */
const maxQueryLength = 1_000;

/** Reads the arguments of the search. @throws GatewayInputError */
export function readSearchArguments(input: Arguments): { query: string; limit: number } {
  rejectUnknown(input, searchProperties);
  const { query = "" } = input;
  const sentLimit = input.limit ?? 5;
  // Converting an object could throw.
  const limit = typeof sentLimit === "object" ? Number.NaN : Number(sentLimit);
  if (typeof query !== "string" || query.length > maxQueryLength || !(limit >= 1)) {
    throw new GatewayInputError(
      `query takes a string of at most ${maxQueryLength} characters, and limit a whole number from 1 to ${maxResults}.`,
    );
  }
  return { query, limit: Math.min(Math.floor(limit), maxResults) };
}

function rejectUnknown(input: Arguments, known: object): void {
  const unknown = Object.keys(input).filter((name) => !(name in known));
  if (unknown.length > 0) {
    throw new GatewayInputError(
      `Unknown argument: ${unknown.join(", ")}. Known arguments: ${Object.keys(known).join(", ")}.`,
    );
  }
}
