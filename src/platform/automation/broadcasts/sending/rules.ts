/** Checks a broadcast against the rules that bind who executes, resumes or retries it, before it is sent. */
import { sql } from "kysely";
import { fail } from "../../../../../tools/errors.ts";
import { getOrDefaultInbox } from "../../../account/inboxes/index.ts";
import { hasOutsideHours, needsOf, requireAllowed } from "../../../account/rules/index.ts";
import type { Actor } from "../../../foundation/kernel/index.ts";
import type { FreezeContext } from "./freeze.ts";

interface RuledBroadcast extends FreezeContext {
  readonly actor: Actor;
}

/** @throws Failure `not_allowed_by_rules`, if a recipient who still gets the message is not allowed. */
export async function requireAllowedBroadcast({ tx, broadcast, actor }: RuledBroadcast): Promise<void> {
  if (!actor.rules) {
    return;
  }
  const { organization_id, id, cohort_id, template } = broadcast;
  const inbox = await getOrDefaultInbox(tx, organization_id, broadcast.inbox_id);
  const { rows } = await sql<{ readonly country: string | null }>`
    select distinct country from broadcast_recipients
    where organization_id = ${organization_id} and broadcast_id = ${id} and status = 'pending'
  `.execute(tx);
  for (const { country } of rows) {
    const used = { inbox_id: inbox.id, template: template?.name ?? null, cohort_id, country };
    requireAllowed(actor.rules, used);
  }
}

/**
 * A broadcast that no plan has frozen must need neither a plan nor a person.
 * @throws Failure `plan_required`, `approval_required`.
 */
export async function requireUnplannedBroadcast(
  { tx, now, broadcast, actor }: RuledBroadcast,
  { recipients, amount }: { readonly recipients: number; readonly amount: number },
): Promise<void> {
  const { rules } = actor;
  if (!rules) {
    return;
  }
  const isOutside = await hasOutsideHours(tx, broadcast.organization_id, { rules, now });
  const facts = { deletes: false, configures: false, newContacts: 0, recipients, amount, isOutside };
  const { plan, person } = needsOf(rules, facts);
  if (person.length > 0) {
    throw fail("approval_required", { reason: person.join(", and ") });
  }
  // Who scheduled the broadcast has planned that.
  if (plan && actor.type !== "system") {
    throw fail("plan_required");
  }
}
