/** Problems of a graph that is being saved: the field, the problem, and what to send instead. */
import type { z } from "zod";
import { type Failure, failInput, inputMessages, nearestName } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";

export interface Problem {
  /** For example nodes[3].action_config.text. */
  readonly field: string;
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

/** How many problems are reported: describing one takes time. */
export const maxProblems = 20;

/** Converts a failure of another module to problems. */
export function problemsOf({ code, message, fix, detail }: Failure, field: string): Problem[] {
  return (detail.details ?? [{ field, code, message, fix }]).map((one) => ({ ...one, fix: one.fix ?? "" }));
}

/** The failure of a graph that can't be saved. Its message has the first problem. */
export function failGraph(
  code: "flow_invalid" | "chatbot_graph_invalid",
  problems: readonly Problem[],
): Failure {
  const { field = "", message = "" } = problems[0] ?? {};
  const details = problems.slice(0, maxProblems);
  return fail(code, { reason: `${field}: ${message}`, param: field, details });
}

/** Parses a part of a graph. `field` is the place of the part. */
export function parsePart<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  field: string,
): { readonly data: z.output<Schema> } | { readonly problems: Problem[] } {
  const parsed = schema.safeParse(value, { error: inputMessages });
  if (parsed.success) {
    return { data: parsed.data };
  }
  const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [field, ...issue.path] }));
  return { problems: problemsOf(failInput(issues, { [field]: value }), field) };
}

/** Returns " Did you mean …?" if one of the names is similar, and otherwise an empty text. */
export function suggest(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? "" : ` Did you mean ${nearest}?`;
}

/** Lists at most 20 names for a message. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).join(", ");
  return names.length === 0 ? "none" : names.length > 20 ? `${shown} and others` : shown;
}
