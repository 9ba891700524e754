/**
 * Checks the regular expressions of a flow that is being saved. Runs before the transaction, because
 * compiling an expression may take long.
 */
import { fail } from "../../../../../tools/errors.ts";
import type { PatternInspection } from "../../../../ports/patterns.ts";
import type { ReadContext, World } from "../../../foundation/kernel/index.ts";
import { type Graph, type Problem, toGraph } from "../graph/index.ts";
import { handlerOf } from "../nodes/index.ts";
import { readEdgeKeyword } from "../texts/keywords.ts";
import { inTurn } from "../texts/patterns.ts";
import { configField, readNodeConfig } from "./validate.ts";

/** Keyed by expression. */
export type Inspections = ReadonlyMap<string, PatternInspection>;

/**
 * The limit of instructions of a compiled expression. An expression such as ^order #?\d{4,10}$ has about 30.
 * Comparing the longest message with 1,000 instructions takes about 100 ms at worst.
 */
const maxProgramSize = 1_000;

/**
 * Stops at the first expression that is too large: the flow is rejected for it, and compiling more large
 * expressions costs time.
 */
export async function inspectPatterns(
  { patterns: matcher }: Pick<World, "patterns">,
  patterns: readonly string[],
): Promise<Inspections> {
  const inspections = new Map<string, PatternInspection>();
  for (const pattern of new Set(patterns)) {
    const inspection = await inTurn(() => matcher.inspect(pattern));
    if (!inspection) {
      throw fail("unavailable", { reason: "it is checking many regular expressions.", retry_after: 1 });
    }
    inspections.set(pattern, inspection);
    if (isTooLarge(inspection)) {
      break;
    }
  }
  return inspections;
}

function isTooLarge(inspection: PatternInspection): boolean {
  return (
    inspection.outcome === "timeout" || (inspection.outcome === "valid" && inspection.size > maxProgramSize)
  );
}

/** The expressions of a graph, in its edges and its nodes. */
export function patternsOf({
  nodes,
}: Graph): readonly { readonly pattern: string; readonly field: string }[] {
  return nodes.flatMap((node) => {
    const { match, keyword } = readEdgeKeyword(node.connection_value ?? "");
    const isEdge = node.connection_type === "keyword" && match === "regex" && keyword !== "";
    const { config } = readNodeConfig(node);
    const own = config === undefined ? [] : (handlerOf(node.node_type).patterns?.(config) ?? []);
    return [
      ...(isEdge ? [{ pattern: keyword, field: `nodes[${node.index}].connection_value` }] : []),
      ...own.map(({ pattern, field }) => ({ pattern, field: `${configField(node)}.${field}` })),
    ];
  });
}

export function checkPatterns(graph: Graph, inspections: Inspections): Problem[] {
  return patternsOf(graph).flatMap(({ pattern, field }) => checkPattern(pattern, field, inspections));
}

/**
 * @throws Failure `unavailable` if the expression was not inspected, because another call has changed the
 *   flow.
 */
export function checkPattern(pattern: string, field: string, inspections: Inspections): Problem[] {
  const inspection = inspections.get(pattern);
  if (!inspection && [...inspections.values()].some(isTooLarge)) {
    return [];
  }
  if (!inspection) {
    throw fail("unavailable", { reason: "another call is changing this flow.", retry_after: 1 });
  }
  if (inspection.outcome === "invalid") {
    return [invalidRegex(field)];
  }
  return isTooLarge(inspection) ? [tooLargeRegex(field)] : [];
}

/** Checks the graph of a request. */
export async function inspectGraph(
  context: Pick<ReadContext, "world">,
  nodes: Parameters<typeof toGraph>[0],
  others: readonly string[] = [],
): Promise<Inspections> {
  const own = patternsOf(toGraph(nodes)).map(({ pattern }) => pattern);
  return inspectPatterns(context.world, [...own, ...others]);
}

function invalidRegex(field: string): Problem {
  return {
    field,
    code: "invalid_regex",
    message:
      "It is not a regular expression of the RE2 syntax, which has no look-around and no back-references.",
    fix: "Send an expression such as ^order #?\\d+$.",
  };
}

function tooLargeRegex(field: string): Problem {
  return {
    field,
    code: "regex_too_large",
    message: `The regular expression is too large: compiled, it has more than ${maxProgramSize} instructions.`,
    fix: "Shorten it: a repetition such as {0,999} counts as often as it repeats. Use + or * instead.",
  };
}
