/**
 * Runs a plan. The plan's row stays locked from the check of its state to the commit, in which the effect of
 * the operation, the response and the state `run` become durable together. So a plan runs once, also when
 * several requests and processes run it, and after a crash it has run or it has not.
 *
 * If the operation finds that it would do something else, its effect is rolled back, and the transaction
 * commits the new plan or the state `lapsed` instead. The failure is thrown after the commit.
 */
import { sql } from "kysely";
import { Failure } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import type { WriteContext } from "../../foundation/kernel/index.ts";
import { unseal } from "../../foundation/sealing/index.ts";
import { type PlanDecision, releasePlan } from "./approval/decide.ts";
import { needsOfPlan } from "./approval/facts.ts";
import { serializePlans } from "./serialize.ts";
import { shownStatus } from "./states.ts";
import {
  endPlan,
  getPlan,
  type PlanRow,
  readContentOf,
  readTargets,
  replacePlan,
  requireStep,
} from "./store.ts";

type Found = ReturnType<WriteContext["world"]["plannedCalls"]["find"]>;

export interface PreparedPlan {
  readonly call: Found;
  readonly steps: Awaited<ReturnType<Found["prepare"]>>;
  /** The version whose input was prepared. */
  readonly version: number;
}

export interface RunOutcome {
  readonly plan: PlanRow;
  /** The response of the operation; null if the plan did not run. */
  readonly result: Record<string, unknown> | null;
}

/** @throws Failure `plan_state`, and the failures of the operation, after which the plan can run later. */
export async function runPlan(
  context: WriteContext,
  id: string,
  prepared: PreparedPlan,
  decision?: PlanDecision,
): Promise<RunOutcome> {
  const { tx, world, organization, now } = context;
  const plan = await getPlan(tx, organization, id, { locks: true });
  if (plan.status === "run") {
    return { plan, result: JSON.parse(plan.result === null ? "null" : unseal(world, plan.result)) };
  }
  requireStep(plan, "run", now);
  if (plan.version !== prepared.version || (decision && decision.hash !== plan.hash)) {
    // It was amended since the request began or since it was shown.
    return { plan, result: null };
  }
  if (!decision) {
    await requireRunnable(context, plan);
  }
  await sql`savepoint planned`.execute(tx);
  try {
    if (decision) {
      await releasePlan(context, plan, decision);
    }
    const result = prepared.call.operation.output.parse(await runFrozen(context, plan, prepared));
    return { plan: await endPlan(context, plan, { step: "run", result }), result };
  } catch (error) {
    if (!(error instanceof Failure) || !["plan_changed", "plan_lapsed"].includes(error.code)) {
      throw error;
    }
    await sql`rollback to savepoint planned`.execute(tx);
    return { plan: await recordChange(context, plan, { ...prepared, failure: error }), result: null };
  }
}

/** @throws Failure `plan_state` for a plan that waits, `approval_required` for one that would have to. */
async function requireRunnable(context: WriteContext, plan: PlanRow): Promise<void> {
  if (plan.approval === "awaiting") {
    throw fail("plan_state", { current_state: shownStatus(plan, context.now), action: "run" });
  }
  const { rules } = context.actor;
  const { person } = rules ? await needsOfPlan(context, plan, rules) : { person: [] };
  if (person.length > 0) {
    throw fail("approval_required", { reason: person.join(", and ") });
  }
}

/** Runs for who asked: also a key that the run makes has the rules under which it was asked for. */
async function runFrozen(context: WriteContext, plan: PlanRow, { steps }: PreparedPlan): Promise<unknown> {
  const { tx, world, organization, caller, actor } = context;
  const { price: amount, currency, asked_under, created_by } = plan;
  const asked = {
    ...context,
    caller: { ...caller, rule_holders: [...new Set([...caller.rule_holders, ...asked_under])] },
    actor: { ...actor, ...created_by },
  };
  return steps.run(plan.approval === "awaiting" ? asked : context, {
    frozen: readContentOf(world, plan).frozen,
    price: amount === null || currency === null ? null : { amount, currency },
    targets: await readTargets(tx, organization, plan.id),
  });
}

async function recordChange(
  context: WriteContext,
  plan: PlanRow,
  { call, steps, failure }: PreparedPlan & { readonly failure: Failure },
): Promise<PlanRow> {
  if (failure.code === "plan_lapsed") {
    return endPlan(context, plan, { step: "lapse" });
  }
  const { warnings, ...effect } = await steps.plan(context);
  const reason = changePrefix + String(failure.detail.reason);
  return replacePlan(context, plan, [call, { ...effect, warnings: [...warnings, reason] }]);
}

/** Begins the warning that says why a plan has a new version. */
const changePrefix = "It has changed: ";

function reasonOf({ warnings }: PlanRow): string {
  const change = warnings.findLast((warning) => warning.startsWith(changePrefix));
  return change?.slice(changePrefix.length) ?? "it was amended since the request began";
}

/** Throws after the commit why a plan did not run. */
export async function throwNotRun(
  context: Parameters<typeof serializePlans>[0] & { readonly organization: string },
  id: string,
): Promise<never> {
  const plan = await getPlan(context.db, context.organization, id);
  if (plan.status === "lapsed") {
    throw fail("plan_lapsed");
  }
  const [shown] = await serializePlans(context, [plan]);
  throw fail("plan_changed", { reason: reasonOf(plan), plan: shown });
}
