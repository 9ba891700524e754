/**
 * The tools as plain data, derived from the catalogue.
 *
 * The build replaces this module by its value, so that listing tools does not load the catalogue. It may
 * therefore export only JSON.
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
  /** The name of the operation that it calls. */
  readonly operation: string;
  readonly scope: ScopeRule | null;
  /** Its resource, by the name of the file in the catalogue. */
  readonly toolset: string;
  /** Whether it is listed by default. */
  readonly isCore: boolean;
  /** The paths in its answer that contain texts of customers. */
  readonly untrusted: readonly string[];
  /** The member of the response's `data` that lists tool calls. */
  readonly offers?: string;
  /** What a client receives. */
  readonly definition: WireTool;
  /** The definition if local files may be named; missing if there is no difference. */
  readonly localDefinition?: WireTool;
}

/** Keywords of JSON Schema that constrain values. */
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

/** Returns the scopes of a credential. */
export const whoamiRoute = { method: auth.whoami.method, path: auth.whoami.path };

/** Lists the tools of a credential, also on services without `whoami`. */
export const toolListRoute = { method: mcp.list_mcp_tools.method, path: mcp.list_mcp_tools.path };

function toListed({ name, operation, scope, title, description, hints, ...schemas }: Tool): ListedTool {
  const annotations = {
    title,
    readOnlyHint: hints.readOnly.is,
    destructiveHint: hints.destructive.is,
    idempotentHint: hints.idempotent.is,
    openWorldHint: hints.openWorld.is,
  };
  // The root has this type already; the compiler does not know it.
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
 * Keeps the structure and drops the constraints. A client rejects an answer that violates the schema although
 * the call was executed, and the service may be newer than this list, or not Tidings.
 */
function relaxSchema(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !constraintKeywords.has(keyword))
      .map(([keyword, value]) => [keyword, relaxKeyword(keyword, value)]),
  );
}

function relaxKeyword(keyword: string, value: unknown): unknown {
  if (keyword === "properties" && isSchema(value)) {
    const fields = Object.entries(value);
    return Object.fromEntries(fields.map(([name, field]) => [name, makeNullable(relaxItem(field))]));
  }
  if (keyword === "anyOf" && Array.isArray(value)) {
    return value.map(relaxItem);
  }
  return keyword === "items" ? relaxItem(value) : value;
}

function relaxItem(value: unknown): unknown {
  return isSchema(value) ? relaxSchema(value) : value;
}

/** As a union: some clients don't read a list of types. A schema without a type allows null already. */
function makeNullable(schema: unknown): unknown {
  if (!isSchema(schema)) {
    return schema;
  }
  const single = schema.type === undefined ? [] : [schema];
  const options: readonly unknown[] = Array.isArray(schema.anyOf) ? schema.anyOf : single;
  const isNullable =
    options.length === 0 || options.some((option) => isSchema(option) && option.type === "null");
  return isNullable ? schema : { anyOf: [...options, { type: "null" }] };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
