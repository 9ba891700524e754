/**
 * Runs of plans whose operation calls a third party.
 *
 * The transaction of the run stores the intent of the operation with the plan, which is then running. After
 * its commit, the same request makes the call, and a further transaction stores the response and ends the
 * plan. Meanwhile the process extends `running_until`; another run is rejected with `plan_running`. If the
 * process dies, the next run or a job looks the call up. If that is not possible, the response is
 * `outcome_unknown`. The call is never repeated.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { ErrorBody, type Failure } from "../../../../tools/contract/index.ts";
import { fail, restoreFailure } from "../../../../tools/errors.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import {
  type Actor,
  defineScheduledJob,
  type OutwardContext,
  type ReadContext,
  recordOf,
  runningUntil,
  system,
  type Transaction,
  type World,
  type WriteContext,
} from "../../foundation/kernel/index.ts";
import { seal, unseal } from "../../foundation/sealing/index.ts";
import { emitPlanEvent } from "./events.ts";
import { planStatusOf, toStoredStatus } from "./states.ts";
import { endPlan, getPlan, notReleased, type PlanRow, requireStep } from "./store.ts";

type Claim = Parameters<World["plannedCalls"]["complete"]>[1];

const StoredIntent = z.object({
  intent: z.unknown(),
  actor: z.custom<Pick<Actor, "type" | "id" | "name">>(),
});

/** The run that this process makes, until another takes it over. */
interface OwnRun {
  readonly plan: PlanRow;
  readonly owner: string;
  readonly isAbandoned: boolean;
}

/** The owners of runs that this process has committed and is about to make, by the plan. */
const committedRuns = new WeakMap<World, Map<string, string>>();

/** Stores what the run calls with. The request makes the call after the commit, by `followRun`. */
export async function beginOutwardRun(
  { tx, world, organization, now, actor }: WriteContext,
  plan: PlanRow,
  intent: unknown,
): Promise<PlanRow> {
  requireStep(plan, "begin", now);
  const owner = randomUUID();
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({
      status: "run",
      intent: seal(world, JSON.stringify({ intent, actor: recordOf(actor) })),
      run_owner: owner,
      running_until: runningUntil(now),
      result: null,
      result_status: null,
    })
    .where("id", "=", plan.id)
    .execute();
  const committed = committedRuns.get(world) ?? new Map<string, string>();
  committedRuns.set(world, committed);
  tx.afterCommit(() => committed.set(plan.id, owner));
  return getPlan(tx, organization, plan.id);
}

/**
 * Makes the call of a plan that this request has begun to run, or resolves it if its process died.
 * @throws Failure of the call, `plan_running`.
 */
export async function followRun(context: ReadContext, id: string): Promise<PlanRow> {
  const { world, organization, db, now, signal } = context;
  const own = (await findOwn(context, id)) ?? (await takeOver(world, { organization, id, now }));
  if (own) {
    const response = await complete(own, { world, organization, now, signal });
    if (response.status >= 400) {
      throw restoreFailure(ErrorBody.parse(response.body), response.isReplay);
    }
  }
  const plan = await getPlan(db, organization, id);
  if (planStatusOf(plan) === "running") {
    throw fail("plan_running", { retry_after: 1 });
  }
  const error = readCallError(world, plan);
  if (error) {
    throw restoreFailure(error, true);
  }
  return plan;
}

/** Why the call of a plan failed that has failed, or that can run again. */
export function readCallError(
  world: World,
  plan: Pick<PlanRow, "result" | "result_status">,
): ErrorBody | undefined {
  return (plan.result_status ?? 0) < 400 ? undefined : ErrorBody.parse(readResult(world, plan));
}

/** The response of the operation; null if the plan has not run. */
export function readResult(world: World, { result }: Pick<PlanRow, "result">): unknown {
  return result === null ? null : JSON.parse(unseal(world, result));
}

/** Ends the runs of processes that died, unless a request runs the plan again first. */
export const resolveRunsJob = defineScheduledJob({
  name: "plan.resolve",
  schedule: "* * * * *",

  async run(world) {
    const now = world.now();
    const abandoned = await world.database.queries
      .selectFrom("plans")
      .select(["organization_id", "id"])
      .where("running_until", "<=", now.toISOString())
      .orderBy("running_until")
      .limit(100)
      .execute();
    for (const { organization_id: organization, id } of abandoned) {
      // If one third party can't be reached, the other calls are still resolved.
      await resolveOne(world, { organization, id, now }).catch((error: unknown) =>
        world.log.warn({ err: error, plan: id }, "An interrupted run of a plan could not be looked up"),
      );
    }
  },
});

interface RunKey {
  readonly organization: string;
  readonly id: string;
  readonly now: Date;
}

async function resolveOne(world: World, key: RunKey): Promise<void> {
  const taken = await takeOver(world, key);
  if (taken) {
    const { organization, now } = key;
    await complete(taken, { world, organization, now, signal: world.stopping });
  }
}

async function findOwn({ world, organization, db }: ReadContext, id: string): Promise<OwnRun | undefined> {
  const committed = committedRuns.get(world);
  const owner = committed?.get(id);
  if (owner === undefined) {
    return undefined;
  }
  committed?.delete(id);
  return { plan: await getPlan(db, organization, id), owner, isAbandoned: false };
}

/** Takes over the run of a process that died. Returns undefined if the call is running or has ended. */
async function takeOver(world: World, { organization, id, now }: RunKey): Promise<OwnRun | undefined> {
  return world.database.transaction(async (tx) => {
    const plan = await getPlan(tx, organization, id, { locks: true });
    if (plan.running_until === null || Date.parse(plan.running_until) > now.getTime()) {
      return undefined;
    }
    const owner = randomUUID();
    await ofOrganization(tx, organization)
      .updateTable("plans")
      .set({ run_owner: owner, running_until: runningUntil(now) })
      .where("id", "=", id)
      .execute();
    return { plan, owner, isAbandoned: true };
  });
}

function complete(run: OwnRun, context: Omit<OutwardContext, "actor">) {
  const { world } = context;
  const { plan, isAbandoned } = run;
  if (plan.intent === null) {
    throw new Error(`The plan ${plan.id} does not run`);
  }
  const { intent, actor } = StoredIntent.parse(JSON.parse(unseal(world, plan.intent)));
  const call = { operation: plan.operation, intent, isAbandoned };
  const outward = { ...context, actor: { ...system, ...actor } };
  return world.plannedCalls.complete(call, claimOf(world, run), outward);
}

function claimOf(world: World, { plan: { organization_id, id }, owner }: OwnRun): Claim {
  const own = (tx: Transaction) =>
    ofOrganization(tx, organization_id)
      .updateTable("plans")
      .where("id", "=", id)
      .where("run_owner", "=", owner);
  return {
    async close(tx) {
      const { numUpdatedRows } = await own(tx).set({ run_owner: null }).executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async reopen(tx, failure) {
      const plan = await getPlan(tx, organization_id, id, { locks: true });
      if (plan.run_owner === owner) {
        await reopenPlan({ tx, world }, plan, failure);
      }
    },

    async findResponse(tx) {
      const plan = await getPlan(tx, organization_id, id);
      const { result_status: status } = plan;
      return status === null ? undefined : { status, body: readResult(world, plan), isReplay: true };
    },

    async storeResponse(tx, { status, body }) {
      const context = { tx, world, organization: organization_id, now: world.now() };
      const plan = await getPlan(tx, organization_id, id);
      await endPlan(context, plan, { step: status < 400 ? "finish" : "fail", result: body, status });
    },

    async renew(db, until) {
      await ofOrganization(db, organization_id)
        .updateTable("plans")
        .set({ running_until: until })
        .where("id", "=", id)
        .where("run_owner", "=", owner)
        .execute();
    },
  };
}

/** The third party rejected the call, so the plan can run again. A plan that was released waits again. */
async function reopenPlan(
  { tx, world }: Pick<WriteContext, "tx" | "world">,
  plan: PlanRow,
  failure: Failure,
): Promise<void> {
  const { status } = requireStep(plan, "reopen", world.now());
  await ofOrganization(tx, plan.organization_id)
    .updateTable("plans")
    .set({
      status: toStoredStatus(status),
      intent: null,
      run_owner: null,
      running_until: null,
      result: seal(world, JSON.stringify(failure.body())),
      result_status: failure.status,
      ...(plan.approval === "released" ? { approval: "awaiting" as const, ...notReleased } : {}),
    })
    .where("id", "=", plan.id)
    .execute();
  if (plan.approval === "released") {
    emitPlanEvent(tx, "plan.awaiting", plan);
  }
}
