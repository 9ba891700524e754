/**
 * Releases of plans for a later time. A job runs the plan then, as the person who released it: the person
 * must still be active and hold what the release takes. If the plan can't run, it waits for a person again.
 */
import { z } from "zod";
import { Failure } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { plans as contract } from "../../../../../tools/plans.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { newJob } from "../../../../jobs/job.ts";
import { findPerson } from "../../../account/auth/index.ts";
import {
  type Actor,
  type Caller,
  defineJob,
  type World,
  type WriteContext,
} from "../../../foundation/kernel/index.ts";
import { seal } from "../../../foundation/sealing/index.ts";
import { emitPlanEvent } from "../events.ts";
import { prepareStored } from "../prepare-stored.ts";
import { followPlan, type Release, type RunOutcome, requireShown, runPlan } from "../run.ts";
import { shownStatus } from "../states.ts";
import { getPlan, notReleased, type PlanRow } from "../store.ts";
import { type PlanDecision, releasePlan, requireMayRelease } from "./decide.ts";
import { toAsker } from "./release.ts";

interface LaterDecision extends PlanDecision {
  readonly runAt: Date;
}

/** Releases a plan for a time. @throws Failure `plan_changed`, `run_at_invalid`, or like `releasePlan`. */
export async function releaseLater(
  context: WriteContext,
  id: string,
  { runAt, ...decision }: LaterDecision,
): Promise<RunOutcome> {
  const { tx, organization, now } = context;
  const plan = await getPlan(tx, organization, id, { locks: true });
  const { hash, expires_at } = plan;
  await requireShown(context, plan, decision);
  if (runAt <= now || runAt.getTime() >= Date.parse(expires_at)) {
    throw fail("run_at_invalid", { expires_at });
  }
  await releasePlan(context, plan, decision);
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({ approval: "awaiting", run_at: runAt.toISOString() })
    .where("id", "=", id)
    .execute();
  await tx.enqueue([newJob(runReleasedJob, { organization_id: organization, plan_id: id, hash }, { runAt })]);
  return { plan: await getPlan(tx, organization, id), result: null };
}

const Released = z.object({ organization_id: z.string(), plan_id: z.string(), hash: z.string() });
type Released = z.infer<typeof Released>;

/** Runs a released plan. A plan that was amended, withdrawn or declined meanwhile is left as it is. */
export const runReleasedJob = defineJob<Released>({
  name: "plan.run",
  payload: Released,

  async run(released, world) {
    const plan = await findDue(world, released);
    if (!plan) {
      return undefined;
    }
    try {
      await runDue(world, plan);
    } catch (error) {
      if (!(error instanceof Failure)) {
        throw error;
      }
      await waitAgain(world, released, error);
    }
    return undefined;
  },

  exhausted: (released, world, error) => waitAgain(world, released, fail("internal", {}, error)),
});

async function findDue(world: World, { organization_id, plan_id, hash }: Released) {
  const plan = await getPlan(world.database.queries, organization_id, plan_id).catch((error: unknown) => {
    if (error instanceof Failure) {
      return undefined;
    }
    throw error;
  });
  const now = world.now();
  const isDue =
    plan?.hash === hash &&
    shownStatus(plan, now) === "released" &&
    plan.run_at !== null &&
    Date.parse(plan.run_at) <= now.getTime();
  return isDue ? plan : undefined;
}

async function runDue(world: World, plan: PlanRow): Promise<void> {
  const { organization_id, id, hash, decided_by } = plan;
  const caller = await findPerson(world.database.queries, organization_id, decided_by?.id ?? "");
  if (!caller) {
    throw fail("releaser_left");
  }
  const prepared = await prepareStored({ world, caller }, id);
  const release: Release = {
    hash,
    async store(context, locked) {
      if (shownStatus(locked, context.now) !== "released") {
        throw fail("plan_state", { current_state: shownStatus(locked, context.now), action: "run" });
      }
      await requireMayRelease(context, locked);
      await ofOrganization(context.tx, organization_id)
        .updateTable("plans")
        .set({ approval: "released" })
        .where("id", "=", id)
        .execute();
    },
    act: toAsker,
  };
  const context = contextOf(world, caller);
  const record = beginRecord(context, { id, hash });
  const { result } = await world.database.transaction(async (tx) => {
    const outcome = await runPlan({ ...context, db: tx, tx }, id, prepared, release);
    if (outcome.result !== null) {
      record.writeWith(tx, { status: contract.approve_plan.status, body: outcome.result });
    }
    return outcome;
  });
  if (result === null) {
    record.defer();
    const followed = await followPlan({ ...context, db: world.database.queries }, id);
    record.end({ status: contract.approve_plan.status, body: followed.result, isReplay: false });
  }
}

/** The act of who released the plan: the record names what the run has sent, as for a release at once. */
function beginRecord({ world, caller, now }: ReturnType<typeof contextOf>, input: object) {
  const operation = contract.approve_plan;
  return world.acts.begin({ name: "approve_plan", operation, tool: undefined, input, now }, caller);
}

/** The context of a call that the person makes at this time. */
function contextOf(world: World, caller: Caller) {
  const { organization_id: organization, scopes, user } = caller;
  if (!user) {
    throw new Error("A plan is released by a person.");
  }
  const actor: Actor = { type: "user", id: user.id, name: user.name, scopes, exceedsBudgets: true };
  const none = { variant: undefined, address: undefined, tool: undefined };
  return { ...none, world, now: world.now(), actor, caller, organization, signal: world.stopping };
}

/** The plan waits for a person again, with the error, unless it has ended or is another meanwhile. */
async function waitAgain(world: World, { organization_id, plan_id, hash }: Released, failure: Failure) {
  await world.database.transaction(async (tx) => {
    const plan = await getPlan(tx, organization_id, plan_id, { locks: true });
    if (plan.hash !== hash || shownStatus(plan, world.now()) !== "released") {
      return;
    }
    await ofOrganization(tx, organization_id)
      .updateTable("plans")
      .set({
        ...notReleased,
        result: seal(world, JSON.stringify(failure.body())),
        result_status: failure.status,
      })
      .where("id", "=", plan_id)
      .execute();
    emitPlanEvent(tx, "plan.awaiting", plan);
  });
}
