/** Makes a plan wait for its release, and stores the decision. */
import { fail } from "../../../../../tools/errors.ts";
import { fromMicros } from "../../../../../tools/money.ts";
import { schedulingOperations } from "../../../../../tools/rules.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { requireRecentSignIn } from "../../../account/auth/index.ts";
import { isBroadcasting, readSettings } from "../../../account/rules/index.ts";
import { isSchedulingFlow } from "../../../automation/flows/index.ts";
import { recordOf, type WriteContext } from "../../../foundation/kernel/index.ts";
import { emitPlanEvent } from "../events.ts";
import { shownStatus } from "../states.ts";
import { endPlan, getPlan, type PlanRow, readContentOf } from "../store.ts";
import { factsOfPlan } from "./facts.ts";

/** What a person decides about. */
export interface PlanDecision {
  /** Of the plan as it was shown. */
  readonly hash: string;
  readonly reason?: string | undefined;
}

/** Why a plan waits, and for whom. */
export interface Waiting {
  readonly why: readonly string[];
  /** Whether the user of the client may confirm it; otherwise a person has to release it. */
  readonly isConfirmable: boolean;
  /** The holders of the rules and budgets of who asked; by default as before. */
  readonly askedUnder?: readonly string[];
}

/** A locked plan waits. */
export async function awaitApproval(
  { tx, organization }: WriteContext,
  plan: PlanRow,
  { why, isConfirmable, askedUnder = plan.asked_under }: Waiting,
): Promise<PlanRow> {
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({
      approval: "awaiting",
      why: [...why],
      asked_under: [...askedUnder],
      confirmable: isConfirmable,
      confirmation: null,
    })
    .where("id", "=", plan.id)
    .execute();
  // Otherwise a person can't release it before the job has prepared it, which reports it then.
  if (plan.preparation === null) {
    emitPlanEvent(tx, "plan.awaiting", plan);
  }
  return getPlan(tx, organization, plan.id);
}

/**
 * Marks a locked plan as released. Its run stands in the same transaction.
 * @throws Failure `plan_state`, `sign_in_again`, `asker_may_not_release`.
 */
export async function releasePlan(
  context: WriteContext,
  plan: PlanRow,
  decision: PlanDecision,
): Promise<void> {
  await requireDecision(context, plan, "released");
  await storeReleased(context, plan, decision);
}

/** Marks a locked plan as released. The caller has checked that the actor may release it. */
export async function storeReleased(
  context: WriteContext,
  plan: PlanRow,
  { reason }: Pick<PlanDecision, "reason">,
): Promise<void> {
  await storeDecision(context, plan, { reason, approval: "released" });
  emitPlanEvent(context.tx, "plan.released", plan);
}

/** @throws Failure like `releasePlan`. */
export async function declinePlan(
  context: WriteContext,
  plan: PlanRow,
  decision: PlanDecision,
): Promise<PlanRow> {
  await requireDecision(context, plan, "declined");
  return storeDeclined(context, plan, decision);
}

/** Ends a locked plan as declined. The caller has checked that the actor may decline it. */
export async function storeDeclined(
  context: WriteContext,
  plan: PlanRow,
  { reason }: Pick<PlanDecision, "reason">,
): Promise<PlanRow> {
  await endPlan(context, plan, { step: "withdraw" });
  await storeDecision(context, plan, { reason, approval: "declined" });
  emitPlanEvent(context.tx, "plan.declined", plan);
  return getPlan(context.tx, context.organization, plan.id);
}

/**
 * Rules leave a caller its own plans: somebody else may be about to run what was shown.
 * @throws Failure `approval_required`.
 */
export function requireOwnPlan({ actor, caller }: WriteContext, { credential_id }: PlanRow): void {
  if (actor.rules && credential_id !== caller.credential.id) {
    throw fail("approval_required", { reason: "another credential made the plan" });
  }
}

async function requireDecision(
  context: WriteContext,
  plan: PlanRow,
  action: keyof typeof decidable,
): Promise<void> {
  const { tx, caller, now } = context;
  const current_state = shownStatus(plan, now);
  if (!decidable[action].includes(current_state)) {
    throw fail("plan_state", { current_state, action });
  }
  await requireRecentSignIn(tx, caller, now);
  await requireOtherPerson(context, plan);
  if (action === "released") {
    await requireMayRelease(context, plan);
  }
}

/** The statuses in which a person decides. Until it runs, a plan that was released can be declined. */
const decidable: Readonly<Record<"released" | "declined", readonly string[]>> = {
  released: ["awaiting_approval"],
  declined: ["awaiting_approval", "released"],
};

/** @throws Failure `asker_may_not_release`. */
async function requireOtherPerson({ tx, organization, caller }: WriteContext, plan: PlanRow): Promise<void> {
  const { approver_is_never_asker } = await readSettings(tx, organization);
  if (approver_is_never_asker && plan.asked_for === caller.user?.id) {
    throw fail("asker_may_not_release");
  }
}

/** What the role of the caller may release. @throws Failure `release_limit_reached`. */
export async function requireMayRelease(
  { tx, world, organization, caller: { user } }: WriteContext,
  plan: PlanRow,
): Promise<void> {
  const role = user?.role ?? "agent";
  const { release_limits } = await readSettings(tx, organization);
  const limit = role === "owner" ? undefined : release_limits?.[role];
  if (!limit) {
    return;
  }
  const { recipients, amount } = await knownOf({ tx, world, organization }, plan);
  const cost = amount === null ? null : fromMicros(amount);
  const { recipients: maxRecipients = Infinity, amount: maxAmount = Infinity } = limit;
  if (recipients === null) {
    throw fail("release_limit_reached", { role, reason: "it is not known yet whom it reaches" });
  }
  if (recipients > maxRecipients) {
    throw fail("release_limit_reached", { role, reason: `it reaches more than ${maxRecipients} people` });
  }
  if (limit.amount !== undefined && (cost === null || cost > maxAmount)) {
    throw fail("release_limit_reached", { role, reason: `it may cost more than ${maxAmount}` });
  }
}

/** Whom a broadcast or a flow that is scheduled reaches, and at what price, is known when it begins. */
async function knownOf(context: Pick<WriteContext, "tx" | "world" | "organization">, plan: PlanRow) {
  const { tx, world, organization } = context;
  const { operation } = plan;
  const { input } = readContentOf(world, plan);
  const isScheduled =
    (isBroadcasting(operation, input) && schedulingOperations.includes(operation)) ||
    (await isSchedulingFlow(tx, organization, { operation, input }));
  return isScheduled ? { recipients: null, amount: null } : factsOfPlan(context, plan);
}

interface StoredDecision extends Pick<PlanDecision, "reason"> {
  readonly approval: "released" | "declined";
}

async function storeDecision(
  { tx, organization, actor, now }: WriteContext,
  { id }: PlanRow,
  { approval, reason }: StoredDecision,
): Promise<void> {
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({
      approval,
      confirmation: null,
      decided_by: JSON.stringify(recordOf(actor)),
      decided_at: now.toISOString(),
      decision_reason: reason ?? null,
    })
    .where("id", "=", id)
    .execute();
}
