/** A step in the preparation of a plan: it is done while the plan waits for it, and at most once. */
import type { z } from "zod";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { StoredPreparation } from "../../../../database/schema/index.ts";
import { type OrganizationChange, system, type World } from "../../../foundation/kernel/index.ts";
import { emitPlanEvent } from "../events.ts";
import { enqueueTurn, type preparePlan } from "../preparation.ts";
import { planStatusOf, statusAt, toStoredStatus } from "../states.ts";
import { getPlan, type PlanRow, readContentOf, requireStep } from "../store.ts";

export type TurnPayload = z.output<(typeof preparePlan)["payload"]>;

export type PreparingPlan = PlanRow & { readonly preparation: StoredPreparation };

export interface Turn {
  readonly world: World;
  readonly payload: TurnPayload;
  readonly plan: PreparingPlan;
  readonly steps: Awaited<ReturnType<World["plannedCalls"]["resume"]>>;
}

/** Undefined if the plan does not wait for this turn any more. Does the slow work before the transaction. */
export async function findPlanTurn(world: World, payload: TurnPayload): Promise<Turn | undefined> {
  const { organization_id: organization } = payload;
  const plan = await findPlan(world.database.queries, payload, world.now());
  if (!plan) {
    return undefined;
  }
  const { operation } = plan;
  const { input } = readContentOf(world, plan);
  const steps = await world.plannedCalls.resume({ operation, input }, { world, organization });
  return { world, payload, plan, steps };
}

async function findPlan(
  db: Queries,
  { organization_id, plan_id, version, turn }: TurnPayload,
  now: Date,
  { locks = false } = {},
): Promise<PreparingPlan | undefined> {
  const plan = await ofOrganization(db, organization_id)
    .selectFrom("plans")
    .selectAll()
    .where("id", "=", plan_id)
    .where("version", "=", version)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
  const preparation = plan?.preparation;
  if (!preparation || preparation.turn !== turn) {
    return undefined;
  }
  const { expires_at } = plan;
  const status = statusAt({ status: planStatusOf(plan), expires_at }, now);
  return status === "preparing" ? { ...plan, preparation } : undefined;
}

/**
 * Runs `work` with the locked plan. Returns false if the plan does not wait for this turn any more: then
 * nothing is done.
 */
export async function inPlanTurn(
  world: World,
  payload: TurnPayload,
  work: (context: OrganizationChange, plan: PreparingPlan) => Promise<void>,
): Promise<boolean> {
  const { organization_id: organization } = payload;
  const now = world.now();
  return world.database.transaction(async (tx) => {
    const plan = await findPlan(tx, payload, now, { locks: true });
    if (!plan) {
      return false;
    }
    const actor = { ...system, ...plan.created_by };
    await work({ tx, world, organization, now, actor }, plan);
    return true;
  });
}

interface Changes
  extends Partial<Pick<PlanRow, "hash" | "content" | "upload_ids" | "prepared" | "included" | "excluded">> {
  readonly preparation?: Partial<StoredPreparation>;
}

/** Stores how far the plan is prepared, and enqueues the next turn. */
export async function advancePreparation(
  { tx, organization }: OrganizationChange,
  plan: PreparingPlan,
  { preparation = {}, ...changes }: Changes,
): Promise<void> {
  const { turn } = plan.preparation;
  const next = { ...plan.preparation, ...preparation, turn: turn + 1 };
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({ ...changes, preparation: JSON.stringify(next) })
    .where("id", "=", plan.id)
    .execute();
  await enqueueTurn(tx, { ...plan, preparation: next });
}

/** The plan is ready, or waits for a person. */
export async function finish(
  { tx, organization, now }: OrganizationChange,
  plan: PreparingPlan,
  changes: Partial<Pick<PlanRow, "total" | "price" | "currency">>,
): Promise<void> {
  const { status } = requireStep(plan, "freeze", now);
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({ ...changes, status: toStoredStatus(status), preparation: null })
    .where("id", "=", plan.id)
    .execute();
  reportReady({ tx }, await getPlan(tx, organization, plan.id));
}

/** A person can release the plan from now on. */
export function reportReady({ tx }: Pick<OrganizationChange, "tx">, plan: PlanRow): void {
  if (plan.preparation === null && plan.approval === "awaiting") {
    emitPlanEvent(tx, "plan.awaiting", plan);
  }
}
