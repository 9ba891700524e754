/** Checks a broadcast against the rules that bind who executes, resumes or retries it, before it is sent. */
import { sql } from "kysely";
import { fail } from "../../../../../tools/errors.ts";
import { allowedOperations, requireOperation } from "../../../../../tools/rule-operations.ts";
import { getOrDefaultInbox } from "../../../account/inboxes/index.ts";
import {
  conditionsOf,
  hasOutsideHours,
  holdReasonsOf,
  needsOf,
  requireAllowed,
  requireConditionsMet,
} from "../../../account/rules/index.ts";
import type { Actor } from "../../../foundation/kernel/index.ts";
import { compileQuery } from "../../../foundation/query/index.ts";
import { contactQueries } from "../../cohorts/index.ts";
import type { FreezeContext } from "./freeze.ts";

interface RuledBroadcast extends FreezeContext {
  readonly actor: Actor;
}

/** @throws Failure `not_allowed_by_rules`, if a recipient who still gets the message is not allowed. */
export async function requireAllowedBroadcast(context: RuledBroadcast): Promise<void> {
  const { tx, broadcast, actor } = context;
  if (!actor.rules) {
    return;
  }
  if (actor.type === "system") {
    // Of a schedule. A call has been checked by its own operation.
    requireOperation(allowedOperations(actor.rules), "execute_broadcast");
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
  await requireAllowedContacts(context);
}

/** Whether all recipients who still get the message meet the conditions of the rules. */
async function requireAllowedContacts({ tx, now, broadcast, actor }: RuledBroadcast): Promise<void> {
  const conditions = conditionsOf(actor.rules);
  if (conditions.length === 0) {
    return;
  }
  const { organization_id, id } = broadcast;
  const context = { organization: organization_id, now, ...contactQueries };
  const isMet = sql.join(
    conditions.map((query) => sql`coalesce(${compileQuery(query, context)}, false)`),
    sql` and `,
  );
  const { rows } = await sql`
    select from broadcast_recipients
    join contacts on contacts.organization_id = broadcast_recipients.organization_id
      and contacts.id = broadcast_recipients.contact_id
    where broadcast_recipients.organization_id = ${organization_id}
      and broadcast_recipients.broadcast_id = ${id} and broadcast_recipients.status = 'pending'
      and not (${isMet})
    limit 1
  `.execute(tx);
  requireConditionsMet(rows.length === 0);
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
  const known = { deletes: false, configures: false, broadcasts: true, newContacts: 0 };
  const facts = { ...known, recipients, amount, isOutside };
  const needs = needsOf(rules, facts);
  const reasons = holdReasonsOf(needs);
  if (reasons.length > 0) {
    throw fail("approval_required", { reason: reasons.join(", and ") });
  }
  // Who scheduled the broadcast has planned that.
  if (needs.plan && actor.type !== "system") {
    throw fail("plan_required");
  }
}
