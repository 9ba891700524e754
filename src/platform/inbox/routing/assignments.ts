/** The history of assignments: one row each time a conversation is assigned or unassigned. */

import { type Selectable, sql } from "kysely";
import type { assignmentTypes } from "../../../../tools/conversations.ts";
import type { Queries } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import {
  columnOf,
  columnsOf,
  insertAll,
  ofOrganization,
  readPage,
  rowsOf,
  updateBatch,
} from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { type Change, defineRetentionJob, type Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../contacts/index.ts";
import type { RoutedConversation } from "./policy.ts";

export const deleteOldAssignmentsJob = defineRetentionJob({
  name: "assignment.forget",
  schedule: "32 * * * *",
  rules: [{ table: "assignments", column: "created_at", days: "assignments" }],
});

type AssignmentRow = Selectable<Tables["assignments"]>;

interface AssignmentDetails {
  readonly assignment_type: (typeof assignmentTypes)[number];
  readonly reason: string | null | undefined;
  readonly over_capacity?: boolean;
}

/** Records the agent and the team that the conversation now has. */
export async function recordAssignment(
  change: Change,
  conversation: RoutedConversation,
  details: AssignmentDetails,
): Promise<AssignmentRow> {
  const row = toRow(change, conversation, details);
  await insertAll(change.tx, "assignments", [row]);
  return row;
}

/** The same for several conversations. */
export async function recordAssignments(
  change: Change,
  assignments: readonly { readonly conversation: RoutedConversation; readonly details: AssignmentDetails }[],
): Promise<void> {
  const rows = assignments.map(({ conversation, details }) => toRow(change, conversation, details));
  await insertAll(change.tx, "assignments", rows);
}

function toRow(
  { actor, now }: Change,
  conversation: RoutedConversation,
  { assignment_type, reason = null, over_capacity = false }: AssignmentDetails,
): AssignmentRow {
  return {
    organization_id: conversation.organization_id,
    id: newId("asg", now),
    conversation_id: conversation.id,
    contact_id: conversation.contact_id,
    assigned_to: conversation.assigned_to,
    team_id: conversation.team_id,
    assigned_by: actor.id,
    assigned_by_type: actor.type,
    assignment_type,
    reason,
    over_capacity,
    created_at: now.toISOString(),
  };
}

export async function latestAssignment(db: Queries, organization: string, conversation_id: string) {
  return (await assignmentsOf(db, organization, conversation_id).limit(1).executeTakeFirst()) ?? null;
}

/** A page of a conversation's assignments, newest first. */
export async function listAssignments(
  db: Queries,
  { organization_id, id }: Pick<RoutedConversation, "organization_id" | "id">,
  paging: { readonly page: number; readonly per_page: number },
) {
  const { rows: data, meta } = await readPage(assignmentsOf(db, organization_id, id), paging);
  return { data, meta };
}

/** A conversation's assignments, newest first. */
function assignmentsOf(db: Queries, organization: string, conversation_id: string) {
  return ofOrganization(db, organization)
    .selectFrom("assignments")
    .selectAll()
    .where("conversation_id", "=", conversation_id)
    .orderBy("id", "desc");
}

/** The last agent of each contact, in any of its conversations. */
export async function readLastAssignments(db: Queries, organization: string, contact_ids: readonly string[]) {
  if (contact_ids.length === 0) {
    return new Map<string, LastAssignment>();
  }
  const { rows } = await rowsOf(lastColumns)`
    select last.contact_id, last.assigned_to as user_id, last.created_at as at
    from unnest(${contact_ids}::text[]) as contact (id)
    cross join lateral (
      select contact_id, assigned_to, created_at from assignments
      where organization_id = ${organization} and contact_id = contact.id and assigned_to is not null
      order by id desc limit 1
    ) as last
  `.execute(db);
  return new Map(rows.map(({ contact_id, user_id, at }) => [contact_id, { user_id, at }]));
}

const lastColumns = {
  ...columnsOf("assignments", "contact_id"),
  user_id: "text",
  at: columnOf("assignments", "created_at"),
} as const;

export interface LastAssignment {
  readonly user_id: string;
  readonly at: string;
}

/** The reasons of assignments are free text, and may contain personal data. */
export async function eraseAssignments(
  tx: Transaction,
  { organization_id, contact_id }: ErasedContact,
  after: string,
): Promise<string | undefined> {
  const ids = sql`
    select id from assignments where organization_id = ${organization_id} and contact_id = ${contact_id}`;
  const update = sql`
    update assignments set reason = null
    where organization_id = ${organization_id} and id in (select id from batch) and reason is not null`;
  return updateBatch(tx, ids, { updates: [update], after });
}
