/** The budget that an act would exceed, in words and as a failure. */
import { z } from "zod";
import { type BoundBudgets, ReachedBudget } from "../../../../../tools/budgets.ts";
import type { Failure } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";

export interface ReachedLimit extends ReachedBudget {
  /** What happens to the act. */
  readonly beyond: BoundBudgets["beyond"];
}

const owners: Readonly<Record<string, string>> = {
  organization: "the organization's budget",
  mcp: "the budget of callers through MCP",
};

/** Continues "it is beyond". */
function describeReached({ holder, kind, period, limit, used, needed, renews_at }: ReachedLimit): string {
  const owner = owners[holder] ?? `the budget of the key ${holder}`;
  const what = kind.replace("_", " ");
  return `${owner} for ${what} in a ${period} (limit ${limit}, used ${used}, needed ${needed}), which renews at ${renews_at}`;
}

/** The failure `budget_reached`. */
export function failReached(reached: ReachedLimit): Failure {
  const { renews_at, beyond } = reached;
  const budget = ReachedBudget.parse(reached);
  return fail("budget_reached", { reason: describeReached(reached), renews_at, budget, beyond });
}

const Facts = z.object({ reason: z.string(), budget: ReachedBudget, beyond: z.enum(["park", "refuse"]) });

/** What a failure says of a budget; undefined for every other failure. */
export function readReached({ code, detail }: Failure): z.infer<typeof Facts> | undefined {
  return code === "budget_reached" ? Facts.parse(detail) : undefined;
}
