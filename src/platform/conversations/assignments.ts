/** The history of assignments: one row each time a conversation is assigned or unassigned. */
import type { Selectable } from "kysely";
import type { assignmentTypes } from "../../../tools/conversations.ts";
import type { Queries } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { insertAll } from "../../database/query/index.ts";
import type { Tables } from "../../database/schema/index.ts";
import type { Change } from "../kernel/index.ts";
import type { ConversationRow } from "../routing/index.ts";

type AssignmentRow = Selectable<Tables["assignments"]>;

interface AssignmentDetails {
  readonly assignment_type: (typeof assignmentTypes)[number];
  /** The user who did it; null for routing. */
  readonly assigned_by?: string | null;
  readonly reason: string | null | undefined;
  readonly over_capacity?: boolean;
}

/** Records the agent and the team that the conversation now has. */
export async function recordAssignment(
  { tx, now }: Change,
  conversation: ConversationRow,
  details: AssignmentDetails,
): Promise<AssignmentRow> {
  const row = toRow(conversation, details, now);
  await insertAll(tx, "assignments", [row]);
  return row;
}

/** The same for several conversations. */
export async function recordAssignments(
  { tx, now }: Change,
  assignments: readonly { readonly conversation: ConversationRow; readonly details: AssignmentDetails }[],
): Promise<void> {
  const rows = assignments.map(({ conversation, details }) => toRow(conversation, details, now));
  await insertAll(tx, "assignments", rows);
}

function toRow(conversation: ConversationRow, details: AssignmentDetails, now: Date): AssignmentRow {
  const { assignment_type, assigned_by = null, reason = null, over_capacity = false } = details;
  return {
    organization_id: conversation.organization_id,
    id: newId("asg", now),
    conversation_id: conversation.id,
    contact_id: conversation.contact_id,
    assigned_to: conversation.assigned_to,
    team_id: conversation.team_id,
    ...{ assignment_type, assigned_by, reason, over_capacity },
    created_at: now.toISOString(),
  };
}

export async function latestAssignment(db: Queries, organization: string, conversation_id: string) {
  return (await assignmentsOf(db, organization, conversation_id).limit(1).executeTakeFirst()) ?? null;
}

/** A conversation's assignments, newest first. */
export function assignmentsOf(db: Queries, organization: string, conversation_id: string) {
  return db
    .selectFrom("assignments")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("conversation_id", "=", conversation_id)
    .orderBy("id", "desc");
}
