/** Describes tools: the form in which a model sees operations, derived from their declarations. */
import { z } from "zod";
import type { Hints } from "./hints.ts";
import { type JsonSchema, toJsonSchema } from "./json-schema/index.ts";
import type { Operation, ToolMapping, ToolTier } from "./operation.ts";
import { allScopes, permits, type Scope, type ScopeRule, scopesOf } from "./scopes.ts";

/** The tools that are listed, from many to few; gateways reach the others. */
export const toolModes = ["all", "core", "lean", "search"] as const;

export type ToolMode = (typeof toolModes)[number];

/** A tool in the form in which it is listed. */
export interface Tool {
  readonly name: string;
  /** The name of the operation that the tool calls. */
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

/** The tools of one operation: a tool with the same name, unless the operation declares tools. */
export function toolMappingsOf(name: string, operation: Operation): Readonly<Record<string, ToolMapping>> {
  return operation.tools ?? { [name]: operation };
}

/** The first sentence of a description: what the operation does. */
export function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}

/** Adds the local field to the mapping, for a transport on the user's machine. */
export function withLocalField(mapping: ToolMapping): ToolMapping {
  const { local, input } = mapping;
  return local ? { ...mapping, input: z.object({ [local.field]: local.schema, ...input.shape }) } : mapping;
}

/** The tools of one resource that a caller does not have for one reason: missing scopes, or a setting. */
export interface HiddenTools {
  readonly group: string;
  readonly tools: string[];
  readonly missing_scopes: Scope[];
  readonly setting: string | null;
}

/** What decides whether a caller has a tool. */
export interface ToolPlace extends Pick<Tool, "name" | "scope"> {
  readonly group: string;
  /** The setting that hides it; undefined if none does. */
  readonly setting: string | undefined;
}

/**
 * The hidden ones of these tools, by resource and reason. A tool that a setting hides stands
 * there, whatever its scope.
 */
export function groupHiddenTools(tools: readonly ToolPlace[], held: ReadonlySet<Scope>): HiddenTools[] {
  const groups = new Map<string, ToolPlace[]>();
  for (const tool of tools) {
    const { group, scope, setting } = tool;
    if (setting !== undefined || !permits(held, scope)) {
      const key = JSON.stringify([group, setting]);
      groups.set(key, [...(groups.get(key) ?? []), tool]);
    }
  }
  return [...groups.values()].map((members) => toHiddenTools(members, held));
}

/** All have the group and the setting of the first. */
function toHiddenTools(members: readonly ToolPlace[], held: ReadonlySet<Scope>): HiddenTools {
  const { group = "", setting } = members[0] ?? {};
  const required = setting === undefined ? members.flatMap(({ scope }) => scopesOf(scope)) : [];
  return {
    group,
    tools: members.map(({ name }) => name),
    missing_scopes: allScopes.filter((scope) => required.includes(scope) && !held.has(scope)),
    setting: setting ?? null,
  };
}
