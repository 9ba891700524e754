/** Lets a plan wait for a person, who releases or declines it. */
import { fail } from "../../../../../tools/errors.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { requireRecentSignIn } from "../../../account/auth/index.ts";
import { readSettings } from "../../../account/rules/index.ts";
import { recordOf, type WriteContext } from "../../../foundation/kernel/index.ts";
import { shownStatus } from "../states.ts";
import { endPlan, getPlan, type PlanRow } from "../store.ts";

/** What a person decides about. */
export interface PlanDecision {
  /** Of the plan as it was shown. */
  readonly hash: string;
  readonly reason?: string | undefined;
}

/** A locked plan waits for a person. */
export async function awaitApproval(
  { tx, organization }: WriteContext,
  plan: PlanRow,
  why: readonly string[],
): Promise<PlanRow> {
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({ approval: "awaiting", why: [...why] })
    .where("id", "=", plan.id)
    .execute();
  emit(tx, "plan.awaiting", plan);
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
  await storeDecision(context, plan, { ...decision, approval: "released" });
  emit(context.tx, "plan.released", plan);
}

/** @throws Failure like `releasePlan`. */
export async function declinePlan(
  context: WriteContext,
  plan: PlanRow,
  decision: PlanDecision,
): Promise<PlanRow> {
  await requireDecision(context, plan, "declined");
  await endPlan(context, plan, { step: "withdraw" });
  await storeDecision(context, plan, { ...decision, approval: "declined" });
  emit(context.tx, "plan.declined", plan);
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

async function requireDecision(context: WriteContext, plan: PlanRow, action: string): Promise<void> {
  const { tx, organization, caller, now } = context;
  const current_state = shownStatus(plan, now);
  if (current_state !== "awaiting_approval") {
    throw fail("plan_state", { current_state, action });
  }
  await requireRecentSignIn(tx, caller, now);
  const { approver_is_never_asker } = await readSettings(tx, organization);
  if (approver_is_never_asker && plan.asked_for === caller.user?.id) {
    throw fail("asker_may_not_release");
  }
}

interface StoredDecision extends PlanDecision {
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
      decided_by: JSON.stringify(recordOf(actor)),
      decided_at: now.toISOString(),
      decision_reason: reason ?? null,
    })
    .where("id", "=", id)
    .execute();
}

function emit(
  tx: WriteContext["tx"],
  type: "plan.awaiting" | "plan.released" | "plan.declined",
  { organization_id, id: plan_id, operation }: PlanRow,
): void {
  tx.emit({ type, organization_id, order: plan_id, data: { plan_id, operation } });
}
