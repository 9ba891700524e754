/** Describes tools: each is an operation as a model sees it, derived from its declaration. */
import { z } from "zod";
import type { Hints } from "./hints.ts";
import { type JsonSchema, toJsonSchema } from "./json-schema/index.ts";
import type { Operation, ToolMapping, ToolTier } from "./operation.ts";
import type { ScopeRule } from "./scopes.ts";

/** The tools that are listed, from many to few; gateways reach the others. */
export const toolModes = ["all", "core", "lean", "search"] as const;

export type ToolMode = (typeof toolModes)[number];

/** One tool as it is listed. */
export interface Tool {
  readonly name: string;
  /** The name of the operation that it calls. */
  readonly operation: string;
  readonly scope: ScopeRule | null;
  readonly tier: ToolTier;
  readonly title: string;
  readonly description: string;
  readonly hints: Hints;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
}

/** Every tool of a catalogue, in its order. */
export function describeTools(catalogue: Readonly<Record<string, Operation>>): Tool[] {
  return Object.entries(catalogue).flatMap(([operationName, operation]) =>
    Object.entries(toolMappingsOf(operationName, operation)).map(([name, mapping]) => ({
      name,
      operation: operationName,
      scope: operation.scope,
      tier: mapping.tier ?? operation.tier,
      title: mapping.title,
      description: mapping.description,
      hints: operation.hints,
      inputSchema: toJsonSchema(mapping.input, "tool"),
      outputSchema: toJsonSchema(operation.output, "output"),
    })),
  );
}

/** The names of all tools of a catalogue. */
export function toolNames(catalogue: Readonly<Record<string, Operation>>): string[] {
  return Object.entries(catalogue).flatMap(([name, operation]) =>
    Object.keys(toolMappingsOf(name, operation)),
  );
}

/** The tools of one operation: one of the same name, unless it declares others. */
export function toolMappingsOf(name: string, operation: Operation): Readonly<Record<string, ToolMapping>> {
  return operation.tools ?? { [name]: operation };
}

/** The mapping with its local field, for a transport on the user's machine. */
export function withLocalField(mapping: ToolMapping): ToolMapping {
  const { local, input } = mapping;
  return local ? { ...mapping, input: z.object({ [local.field]: local.schema, ...input.shape }) } : mapping;
}
