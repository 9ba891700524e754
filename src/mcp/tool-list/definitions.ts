/**
 * The tools as plain data, made from the catalogue once.
 *
 * A build puts this module's value in its place, so that listing tools loads no catalogue: it exports
 * JSON and nothing else.
 */
import type { Tool as WireTool } from "@modelcontextprotocol/server";
import { auth } from "../../../tools/auth.ts";
import {
  describeTools,
  type JsonSchema,
  type Operation,
  type ScopeRule,
  type Tool,
  type ToolMapping,
  toJsonSchema,
  toolMappingsOf,
  untrustedPaths,
  withLocalField,
} from "../../../tools/contract/index.ts";
import { catalogue, resources } from "../../../tools/index.ts";
import { mcp } from "../../../tools/mcp.ts";

export interface ListedTool {
  readonly name: string;
  /** The operation that it calls, by its name in the catalogue. */
  readonly operation: string;
  readonly scope: ScopeRule | null;
  /** The resource that it belongs to, by the name of its file in the catalogue. */
  readonly toolset: string;
  /** Whether it is listed when nothing is asked for. */
  readonly isCore: boolean;
  /** Where its answer holds what customers wrote. */
  readonly untrusted: readonly string[];
  /** The member of its answer's `data` that lists tool calls. */
  readonly offers?: string;
  /** As a client sees it. */
  readonly definition: WireTool;
  /** The same where files of this machine may be named; left out where there is no difference. */
  readonly localDefinition?: WireTool;
}

/** What a JSON Schema promises beyond where things stand. */
const constraintKeywords = new Set([
  "required",
  "enum",
  "format",
  "pattern",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
]);

const operations: Readonly<Record<string, Operation>> = catalogue;

const toolsets = new Map(
  Object.entries(resources).flatMap(([toolset, group]) =>
    Object.keys(group).map((operation) => [operation, toolset] as const),
  ),
);

/** Every tool, in the catalogue's order. */
export const tools: readonly ListedTool[] = describeTools(catalogue).map(toListed);

/** Where a credential's scopes are learned. */
export const whoamiRoute = { method: auth.whoami.method, path: auth.whoami.path };

/** Where a service that has no such route lists the tools of a credential. */
export const toolListRoute = { method: mcp.list_mcp_tools.method, path: mcp.list_mcp_tools.path };

function toListed({ name, operation, scope, title, description, hints, ...schemas }: Tool): ListedTool {
  const annotations = {
    title,
    readOnlyHint: hints.readOnly,
    destructiveHint: hints.destructive,
    idempotentHint: hints.idempotent,
    openWorldHint: hints.openWorld,
  };
  // The root says that it is an object already; here it says so to the compiler.
  const inputSchema = { ...schemas.inputSchema, type: "object" as const };
  const outputSchema = { ...relaxSchema(schemas.outputSchema), type: "object" as const };
  const declared = operations[operation];
  const wire: WireTool = { name, title, description, inputSchema, outputSchema, annotations };
  const mapping = declared && toolMappingsOf(operation, declared)[name];
  return {
    name,
    operation,
    scope,
    toolset: toolsets.get(operation) ?? "",
    isCore: declared?.tier === "core",
    untrusted: declared ? untrustedPaths(declared.output) : [],
    ...(declared?.offers === undefined ? {} : { offers: declared.offers }),
    definition: wire,
    ...(mapping?.local ? { localDefinition: withInput(wire, withLocalField(mapping).input) } : {}),
  };
}

function withInput(wire: WireTool, input: ToolMapping["input"]): WireTool {
  const { properties } = toJsonSchema(input, "tool") as Pick<WireTool["inputSchema"], "properties">; // of an object
  const inputSchema = { ...wire.inputSchema, properties };
  return { ...wire, inputSchema };
}

/**
 * Tells what stands where and promises nothing. A client refuses an answer that breaks its schema after
 * the effect has happened, and the service may be newer than this list, or another one.
 */
function relaxSchema(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !constraintKeywords.has(keyword))
      .map(([keyword, value]) => [keyword, relaxKeyword(keyword, value)]),
  );
}

function relaxKeyword(keyword: string, value: unknown): unknown {
  if (keyword === "properties") {
    // The values of these keywords are schemas, by JSON Schema itself.
    const fields = Object.entries(value as Record<string, JsonSchema>);
    return Object.fromEntries(fields.map(([name, field]) => [name, makeNullable(relaxSchema(field))]));
  }
  if (keyword === "items") {
    return relaxSchema(value as JsonSchema);
  }
  return keyword === "anyOf" ? (value as JsonSchema[]).map(relaxSchema) : value;
}

function makeNullable(schema: JsonSchema): JsonSchema {
  const [one, none, ...others] = (schema.anyOf ?? []) as JsonSchema[];
  if (one && none?.type === "null" && others.length === 0) {
    return makeNullable(one);
  }
  return typeof schema.type === "string" ? { ...schema, type: [schema.type, "null"] } : schema;
}
