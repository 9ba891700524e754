/**
 * The contract of a type of node: its action_config, the scope that its action needs, and the edges below it.
 */
import { z } from "zod";
import type { Scope } from "../../contract/index.ts";

/**
 * always: after success. keyword, button: the reply matches. default: no other edge matched. timeout: no
 * reply came. error: the node failed.
 */
export const connectionTypes = [
  "always",
  "keyword",
  "button",
  "condition_true",
  "condition_false",
  "timeout",
  "error",
  "default",
] as const;
export type ConnectionType = (typeof connectionTypes)[number];

export interface NodeDeclaration<Config extends z.ZodType = z.ZodType> {
  /** What the node does, for `describe_flow_nodes`. */
  readonly summary: string;
  /** Valid values of action_config, which together contain every argument. */
  readonly examples: readonly z.input<Config>[];
  readonly config: Config;
  /** The scope that a caller needs to save such a node, in addition to the scope of the operation. */
  readonly scope?: Scope;
  /** Whether the node may send a message. */
  readonly sends?: true;
  /** The connection types of the node's children. */
  readonly edges: readonly ConnectionType[];
}

export function node<Config extends z.ZodType>(
  declaration: NodeDeclaration<Config>,
): NodeDeclaration<Config> {
  return declaration;
}

/** The edges below a node that is done at once, and may fail. */
export const fallible = ["always", "error"] as const satisfies readonly ConnectionType[];

/** The edges below a node that waits for a reply. */
export const replyEdges = [
  "always",
  "keyword",
  "button",
  "timeout",
  "default",
] as const satisfies readonly ConnectionType[];

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a valid duration. */
export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * (unitMs[text.slice(-1)] ?? 0);
}

const maxDurationMs = 30 * 86_400_000;

export const duration = z
  .string()
  .max(12)
  .refine(
    (text) => /^\d+[smhd]$/.test(text) && durationMs(text) >= 1_000 && durationMs(text) <= maxDurationMs,
    "Send a duration from 1s to 30d, for example 30s, 15m, 4h or 2d.",
  );

/** A text that may contain placeholders, such as {{contact.name}}. */
export function templatedText(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .refine((text) => text.trim() !== "", "Send a text that is not blank.");
}

/** The name of a variable of a run. */
export const variableName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z_]\w*$/, "Send a name of letters, digits and _, for example city.")
  // Validated objects drop this member, so the run would be shown without the variable.
  .refine((name) => name !== "__proto__", "Send another name: this one is reserved.");

/** The one of these members that the object must have. */
export function exactlyOne<Name extends string>(names: readonly Name[]) {
  return [
    (value: { readonly [Key in Name]?: unknown }) =>
      names.filter((name) => value[name] !== undefined).length === 1,
    `Send exactly one of ${names.join(", ")}.`,
  ] as const;
}
