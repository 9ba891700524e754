/**
 * The confirmation of a plan by the user of an MCP client.
 *
 * The plan stores which confirmation was asked for last. Its state goes to the client, which sends it back
 * with the user's answer. The state is sealed, and bound to the plan, its hash, the credential, the call of
 * the client and a time. It is used up by an answer, and replaced by the next question.
 *
 * A confirmation is no release by a person: a client says itself that it has asked its user. So a plan that a
 * person has to release can't be confirmed.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { parseJson } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { confirmationMinutes } from "../../../../../tools/plans.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { SealedText } from "../../../../database/schema/index.ts";
import type { WriteContext } from "../../../foundation/kernel/index.ts";
import { seal, tryUnseal } from "../../../foundation/sealing/index.ts";
import type { Release } from "../run.ts";
import { shownStatus } from "../states.ts";
import { getPlan, type PlanRow } from "../store.ts";
import { awaitApproval, storeDeclined, storeReleased } from "./decide.ts";
import { needsOfPlan } from "./facts.ts";

const State = z.object({
  confirmation: z.string(),
  plan: z.string(),
  hash: z.string(),
  credential: z.string(),
  /** The call of the client. */
  call: z.string(),
  expires_at: z.iso.datetime(),
});

/** The client's answer. */
interface Confirmation {
  readonly state: string;
  readonly call: string;
}

/**
 * Begins the confirmation of a locked plan.
 * @returns no state if a person has to release the plan.
 * @throws Failure `plan_state`, `confirmation_invalid`.
 */
export async function askConfirmation(
  context: WriteContext,
  plan: PlanRow,
  call: string,
): Promise<{ readonly plan: PlanRow; readonly state: string | null }> {
  const { tx, world, organization, now, caller } = context;
  requireClient(context, plan);
  const current_state = shownStatus(plan, now);
  if (current_state !== "awaiting_approval") {
    throw fail("plan_state", { current_state, action: "confirmed" });
  }
  const { person } = await needsOfPlan(context, plan, context.actor.rules ?? []);
  if (!plan.confirmable || person.length > 0) {
    const why = plan.confirmable ? person : (plan.why ?? []);
    return { plan: await awaitApproval(context, plan, { why, isConfirmable: false }), state: null };
  }
  const confirmation = randomUUID();
  await setConfirmation(context, plan.id, confirmation);
  const end = Math.min(now.getTime() + confirmationMinutes * 60_000, Date.parse(plan.expires_at));
  const state: z.infer<typeof State> = {
    confirmation,
    plan: plan.id,
    hash: plan.hash,
    credential: caller.credential.id,
    call,
    expires_at: new Date(end).toISOString(),
  };
  return {
    plan: await getPlan(tx, organization, plan.id),
    state: String(seal(world, JSON.stringify(state))),
  };
}

/**
 * Accepts a confirmation of a locked plan.
 * @throws Failure `confirmation_invalid`, `approval_required`.
 */
export async function acceptConfirmation(
  context: WriteContext,
  plan: PlanRow,
  confirmation: Confirmation,
): Promise<Release> {
  requireConfirmation(context, plan, confirmation);
  const { person } = await needsOfPlan(context, plan, context.actor.rules ?? []);
  if (person.length > 0) {
    throw fail("approval_required", { reason: person.join(", and ") });
  }
  return {
    hash: plan.hash,
    store: (writing, locked) =>
      storeReleased(writing, locked, { reason: "Confirmed by the user of the client" }),
    // Budgets hold it back, and rules say no more how it begins.
    act: async (writing) => {
      const { rules, ...actor } = writing.actor;
      const begun = rules?.map((one) => ({ ...one, mode: "auto" as const }));
      return { ...writing, actor: begun ? { ...actor, rules: begun } : actor };
    },
  };
}

/**
 * Ends the confirmation of a locked plan that the user has not accepted: the plan is declined, or waits as
 * before. @throws Failure `confirmation_invalid`.
 */
export async function refuseConfirmation(
  context: WriteContext,
  plan: PlanRow,
  { isDeclined, ...confirmation }: Confirmation & { readonly isDeclined: boolean },
): Promise<PlanRow> {
  requireConfirmation(context, plan, confirmation);
  if (isDeclined) {
    return storeDeclined(context, plan, { reason: "Declined by the user of the client" });
  }
  await setConfirmation(context, plan.id, null);
  return getPlan(context.tx, context.organization, plan.id);
}

async function setConfirmation({ tx, organization }: WriteContext, id: string, confirmation: string | null) {
  await ofOrganization(tx, organization)
    .updateTable("plans")
    .set({ confirmation })
    .where("id", "=", id)
    .execute();
}

/** Only the credential whose call waits is asked, and only through MCP: a program over REST has no user. */
function requireClient({ caller, tool }: WriteContext, { credential_id }: PlanRow): void {
  if (tool === undefined) {
    throw fail("confirmation_invalid", { reason: "only a client of MCP asks its user" });
  }
  if (credential_id !== caller.credential.id) {
    throw fail("confirmation_invalid", { reason: "another credential made the call" });
  }
}

function requireConfirmation(context: WriteContext, plan: PlanRow, { state, call }: Confirmation): void {
  requireClient(context, plan);
  const { world, now, caller } = context;
  // It comes from the client, so it is checked.
  const opened = tryUnseal(world, state as unknown as SealedText);
  const stored = opened && State.safeParse(parseJson(opened.text));
  if (!stored?.success) {
    throw fail("confirmation_invalid", { reason: "its state was not made here" });
  }
  const { data } = stored;
  const isBound =
    data.plan === plan.id &&
    data.hash === plan.hash &&
    data.credential === caller.credential.id &&
    data.call === call;
  if (!isBound) {
    throw fail("confirmation_invalid", { reason: "it belongs to another call" });
  }
  if (Date.parse(data.expires_at) <= now.getTime()) {
    throw fail("confirmation_invalid", { reason: "it has expired" });
  }
  const waits = shownStatus(plan, now) === "awaiting_approval" && plan.confirmable;
  if (!waits || data.confirmation !== plan.confirmation) {
    throw fail("confirmation_invalid", { reason: "it was used, or another question replaced it" });
  }
}
