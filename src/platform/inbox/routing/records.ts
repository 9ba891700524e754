/** Records decisions: why a conversation was assigned or queued, and the credits that the next decision needs. */

import { type Selectable, sql } from "kysely";
import type { routingTriggers } from "../../../../tools/routing.ts";
import type { Queries } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import {
  columnsOf,
  insertAll,
  ofOrganization,
  recordset,
  updateBatch,
} from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { Change, Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../contacts/index.ts";
import type { Decision, PolicyDecision } from "./decide.ts";
import type { RoutedConversation } from "./policy.ts";

export type Trigger = (typeof routingTriggers)[number];

/** A decision about a conversation, and what triggered it. */
export interface DecisionRecord<Of extends Decision = Decision> {
  readonly conversation: RoutedConversation;
  readonly trigger: Trigger;
  readonly decision: Of;
}

/** Records decisions of policies about conversations of one organization, and the agents' credits after them. */
export async function recordPolicyDecisions(
  change: Change,
  organization: string,
  records: readonly DecisionRecord<PolicyDecision>[],
) {
  await insertDecisions(change, records);
  await saveCredits(
    change.tx,
    organization,
    records.map(({ decision }) => decision),
  );
}

/** Records a decision that no policy made; a mismatch once, not again with every message. */
export async function recordDecision(change: Change, record: DecisionRecord): Promise<void> {
  const { conversation, decision } = record;
  if (decision.outcome === "unmatched") {
    const [latest] = await selectDecisions(change.tx, conversation.organization_id, conversation.id)
      .limit(1)
      .execute();
    if (latest?.outcome === "unmatched") {
      return;
    }
  }
  await insertDecisions(change, [record]);
}

/** An explanation may quote the contact's tags and attributes. */
export async function eraseDecisions(
  tx: Transaction,
  { organization_id, conversation_ids }: ErasedContact,
  after: string,
): Promise<string | undefined> {
  const ids = sql`
    select id from routing_decisions
    where organization_id = ${organization_id} and conversation_id = any(${conversation_ids}::text[])`;
  const update = sql`
    update routing_decisions set explanation = '', candidates = '[]'
    where organization_id = ${organization_id} and id in (select id from batch)`;
  return updateBatch(tx, ids, { updates: [update], after });
}

async function insertDecisions({ tx, now }: Change, records: readonly DecisionRecord[]): Promise<void> {
  const rows = records.map(({ conversation, trigger, decision }) => {
    const { outcome, explanation, policy_id, policy_name, strategy, team_id, assigned_to } = decision;
    return {
      organization_id: conversation.organization_id,
      id: newId("dec", now),
      conversation_id: conversation.id,
      trigger,
      outcome,
      explanation,
      policy_id,
      policy_name,
      strategy,
      team_id,
      assigned_to,
      candidates: decision.candidates,
      created_at: now.toISOString(),
    };
  });
  await insertAll(tx, "routing_decisions", rows);
}

/** Saves the credits after the last decision of each policy; policies deleted in the meantime are skipped. */
async function saveCredits(tx: Transaction, organization: string, decisions: readonly PolicyDecision[]) {
  const weighted = decisions.flatMap(({ policy_id, credits }) =>
    policy_id !== null && credits.size > 0 ? [{ policy_id, credits }] : [],
  );
  const credits = new Map(
    weighted.flatMap(({ policy_id, credits }) =>
      [...credits].map(([user_id, credit]) => [`${policy_id} ${user_id}`, { policy_id, user_id, credit }]),
    ),
  );
  if (credits.size === 0) {
    return;
  }
  // The lock keeps the policies from being deleted before the commit.
  await sql`
    with locked as (
      select id from routing_policies
      where organization_id = ${organization} and id = any(${weighted.map(({ policy_id }) => policy_id)}::text[])
      order by id for key share
    )
    insert into routing_credits (organization_id, policy_id, user_id, credit)
    select ${organization}, policy_id, user_id, credit
    from ${recordset("credits", columnsOf("routing_credits", "policy_id", "user_id", "credit"), [...credits.values()])}
    where policy_id in (select id from locked)
    on conflict (organization_id, policy_id, user_id) do update set credit = excluded.credit
  `.execute(tx);
}

/** The decisions about a conversation, newest first. */
export function selectDecisions(db: Queries, organization: string, conversation_id: string) {
  return ofOrganization(db, organization)
    .selectFrom("routing_decisions")
    .selectAll()
    .where("conversation_id", "=", conversation_id)
    .orderBy("id", "desc");
}

export function candidatesOf({ candidates }: Selectable<Tables["routing_decisions"]>) {
  // Only `insertDecisions` writes this column, from a `Decision`.
  return candidates as Decision["candidates"];
}
