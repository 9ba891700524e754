/**
 * Runs a plan. The plan's row stays locked from the check of its state to the commit, in which the effect of
 * the operation, the response and the state `run` become durable together. So a plan runs once, also when
 * several requests and processes run it, and after a crash it has run or it has not. A call to a third party
 * follows the commit (`outward.ts`).
 *
 * If the operation finds that it would do something else, its effect is rolled back, and the transaction
 * commits the new plan or the state `lapsed` instead. The failure is thrown after the commit.
 */
import { Failure } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { plans as contract } from "../../../../tools/plans.ts";
import { holdReasonsOf } from "../../account/rules/index.ts";
import type { ReadContext, World, WriteContext } from "../../foundation/kernel/index.ts";
import { needsOfPlan } from "./approval/facts.ts";
import { beginOutwardRun, followRun, readResult } from "./outward.ts";
import { serializePlans } from "./serialize.ts";
import { planStatusOf, shownStatus } from "./states.ts";
import { endPlan, getPlan, type PlanRow, readContentOf, replacePlan, requireStep } from "./store.ts";
import { streamTargets } from "./targets.ts";

type Found = ReturnType<WriteContext["world"]["plannedCalls"]["find"]>;

export interface PreparedPlan {
  readonly call: Found;
  readonly steps: Awaited<ReturnType<Found["prepare"]>>;
  /** The version whose input was prepared. */
  readonly version: number;
  /** The version that the caller has seen, if it names one. */
  readonly seenVersion?: number | undefined;
}

export interface RunOutcome {
  readonly plan: PlanRow;
  /** The response of the operation; null if the plan did not run. */
  readonly result: Record<string, unknown> | null;
}

/** How a plan that waits is released in the transaction of its run. */
export interface Release {
  /** Of the plan as it was shown. */
  readonly hash: string;
  /** Marks the locked plan as released. @throws Failure if the caller may not release it. */
  store(context: WriteContext, plan: PlanRow): Promise<void>;
  /** Who acts in the run. */
  act(context: WriteContext, plan: PlanRow): Promise<WriteContext>;
}

/** @throws Failure `plan_state`, and the failures of the operation, after which the plan can run later. */
export async function runPlan(
  context: WriteContext,
  id: string,
  prepared: PreparedPlan,
  release?: Release,
): Promise<RunOutcome> {
  const { tx, organization, now } = context;
  const plan = await getPlan(tx, organization, id, { locks: true });
  if (plan.status === "run" && planStatusOf(plan) !== "preparing") {
    requireOwnSecret(context, plan, prepared.call);
    return { plan, result: planStatusOf(plan) === "run" ? resultOf(context, plan) : null };
  }
  requireStep(plan, "run", now);
  if (release) {
    await requireShown(context, plan, release);
  }
  if (plan.version !== prepared.version) {
    throw await toChangedFailure(context, plan, "it was amended since the request began");
  }
  if (!release) {
    await requireSeen(context, plan, prepared.seenVersion);
    await requireRunnable(context, plan);
  }
  try {
    return await tx.inSavepoint((part) =>
      execute({ ...context, db: part, tx: part }, plan, { ...prepared, release }),
    );
  } catch (error) {
    if (!(error instanceof Failure) || !["plan_changed", "plan_lapsed"].includes(error.code)) {
      throw error;
    }
    return { plan: await recordChange(context, plan, { ...prepared, failure: error }), result: null };
  }
}

/**
 * A secret in the result is shown only to the actors that made or released the plan.
 * @throws Failure `plan_state`.
 */
function requireOwnSecret({ actor, now }: WriteContext, plan: PlanRow, { operation }: Found): void {
  const isOwn = plan.created_by.id === actor.id || plan.decided_by?.id === actor.id;
  if (operation.showsSecret && !isOwn) {
    throw fail("plan_state", { current_state: shownStatus(plan, now), action: "run" });
  }
}

async function execute(
  context: WriteContext,
  plan: PlanRow,
  { release, call, steps }: PreparedPlan & { readonly release: Release | undefined },
): Promise<RunOutcome> {
  await release?.store(context, plan);
  const acting = (await release?.act(context, plan)) ?? context;
  const done = await steps.run(acting, readFrozen(context, plan));
  if (call.operation.effect === "outward") {
    return { plan: await beginOutwardRun(acting, plan, done), result: null };
  }
  const result = call.operation.output.parse(done);
  return { plan: await endPlan(context, plan, { step: "run", result }), result };
}

function resultOf({ world }: { readonly world: World }, plan: PlanRow): Record<string, unknown> {
  // Every operation's output is an object.
  return readResult(world, plan) as Record<string, unknown>;
}

/**
 * A plan that has changed itself runs only for a caller that names the new version: a request that was sent
 * at the same time has not seen it.
 * @throws Failure `plan_changed`.
 */
async function requireSeen(context: WriteContext, plan: PlanRow, seen: number | undefined): Promise<void> {
  const change = changeOf(plan);
  if (seen === undefined ? change !== undefined : seen !== plan.version) {
    throw await toChangedFailure(context, plan, change ?? `its version is ${plan.version}`);
  }
}

/** @throws Failure `plan_state` for a plan that waits, `approval_required` for one that would have to. */
async function requireRunnable(context: WriteContext, plan: PlanRow): Promise<void> {
  if (plan.approval === "awaiting") {
    throw fail("plan_state", { current_state: shownStatus(plan, context.now), action: "run" });
  }
  const { rules } = context.actor;
  const reasons = rules ? holdReasonsOf(await needsOfPlan(context, plan, rules)) : [];
  if (reasons.length > 0) {
    throw fail("approval_required", { reason: reasons.join(", and ") });
  }
}

function readFrozen({ tx, world }: WriteContext, plan: PlanRow) {
  const { price: amount, currency } = plan;
  const { frozen, files } = readContentOf(world, plan);
  return {
    frozen,
    files,
    price: amount === null || currency === null ? null : { amount, currency },
    targets: streamTargets(tx, plan),
  };
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

function changeOf({ warnings }: PlanRow): string | undefined {
  return warnings.findLast((warning) => warning.startsWith(changePrefix))?.slice(changePrefix.length);
}

/**
 * What a request returns that has run a plan: makes the call to a third party, if there is one.
 * @throws Failure of the call, `plan_running`, and why the plan did not run.
 */
export async function followPlan(context: ReadContext, id: string): Promise<RunOutcome> {
  const plan = await followRun(context, id);
  return planStatusOf(plan) === "run"
    ? { plan, result: resultOf(context, plan) }
    : throwNotRun(context, plan);
}

/** Throws after the commit why a plan did not run. */
async function throwNotRun(context: ReadContext, plan: PlanRow): Promise<never> {
  if (plan.status === "lapsed") {
    throw fail("plan_lapsed");
  }
  throw await toChangedFailure(context, plan, changeOf(plan) ?? "it was amended since the request began");
}

/** @throws Failure `plan_changed` if the hash belongs to another version of the plan. */
export async function requireShown(
  context: Parameters<typeof serializePlans>[0],
  plan: PlanRow,
  { hash }: { readonly hash: string },
): Promise<void> {
  if (hash !== plan.hash) {
    throw await toChangedFailure(context, plan, "the hash that was sent is not its present one");
  }
}

/** The failure says what the plan is now. */
async function toChangedFailure(
  context: Parameters<typeof serializePlans>[0],
  plan: PlanRow,
  reason: string,
): Promise<Failure> {
  const [data] = await serializePlans(context, [plan]);
  const shown = contract.amend_plan.output.parse({ data });
  return fail("plan_changed", { reason, plan: shown.data });
}
