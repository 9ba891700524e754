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
  openPaths,
  type ScopeRule,
  type Tool,
  type ToolMapping,
  type ToolTier,
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
  /** Which modes list it. */
  readonly tier: ToolTier;
  /** The paths in its answer that contain texts of customers. */
  readonly untrusted: readonly string[];
  /** The paths in its answer that contain any JSON. */
  readonly open: readonly string[];
  /** The member of the response's `data` that lists tool calls. */
  readonly offers?: string;
  /** The member of the response's `data` that lists hidden tools. */
  readonly hides?: string;
  /** The member of the response's `data` that has an image. */
  readonly image?: string;
  /** What a client receives. */
  readonly definition: WireTool;
  /** The definition if local files may be named; missing if there is no difference. */
  readonly localDefinition?: WireTool;
}

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

/** Records a call that is rejected here. */
export const rejectedCallRoute = {
  method: mcp.report_rejected_call.method,
  path: mcp.report_rejected_call.path,
};

function toListed({ name, operation, scope, tier, title, description, hints, ...schemas }: Tool): ListedTool {
  const annotations = {
    title,
    readOnlyHint: hints.readOnly.is,
    destructiveHint: hints.destructive.is,
    idempotentHint: hints.idempotent.is,
    openWorldHint: hints.openWorld.is,
  };
  // The root has this type already; the compiler does not know it.
  const inputSchema = { ...schemas.inputSchema, type: "object" as const };
  const outputSchema = nameFields(schemas.outputSchema);
  const declared = operations[operation];
  const wire: WireTool = { name, title, description, inputSchema, outputSchema, annotations };
  const mapping = declared && toolMappingsOf(operation, declared)[name];
  return {
    name,
    operation,
    scope,
    toolset: toolsets.get(operation) ?? "",
    tier,
    untrusted: declared ? untrustedPaths(declared.output) : [],
    open: declared ? openPaths(declared.output) : [],
    ...(declared?.offers === undefined ? {} : { offers: declared.offers }),
    ...(declared?.hides === undefined ? {} : { hides: declared.hides }),
    ...(declared?.image === undefined ? {} : { image: declared.image }),
    definition: wire,
    ...(mapping?.local ? { localDefinition: withInput(wire, withLocalField(mapping).input) } : {}),
  };
}

function withInput(wire: WireTool, input: ToolMapping["input"]): WireTool {
  // The schema of an object.
  const { properties } = toJsonSchema(input, "tool") as Pick<WireTool["inputSchema"], "properties">;
  const inputSchema = { ...wire.inputSchema, properties };
  return { ...wire, inputSchema };
}

/**
 * Names the fields of `data` and the members beside it. OpenAPI has the whole schema: here it would be most
 * of the list, and a client rejects an answer that violates it, although the call was executed, if the
 * service is newer than the list, or not Tidings.
 */
function nameFields({ properties }: JsonSchema): WireTool["outputSchema"] {
  // By JSON Schema, the members of `properties` are schemas.
  const members = Object.entries(Object(properties) as Readonly<Record<string, JsonSchema>>);
  return {
    type: "object",
    properties: Object.fromEntries(
      members.map(([name, schema]) => [name, name === "data" ? nameMembers(schema) : {}]),
    ),
  };
}

function nameMembers({ properties, items }: JsonSchema): JsonSchema {
  if (isSchema(items)) {
    return { type: "array", items: nameMembers(items) };
  }
  const names = isSchema(properties) ? Object.keys(properties) : [];
  return names.length === 0
    ? {}
    : { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
