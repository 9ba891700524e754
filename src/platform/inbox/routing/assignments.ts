/** The history of assignments: one row each time a conversation is assigned or unassigned. */
import type { Selectable } from "kysely";
import type { assignmentTypes } from "../../../tools/conversations.ts";
import type { Queries } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { insertAll } from "../../database/query/index.ts";
import type { Tables } from "../../database/schema/index.ts";
import { type Change, defineRetentionJob } from "../kernel/index.ts";
import type { ConversationRow } from "../routing/index.ts";

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
  conversation: ConversationRow,
  details: AssignmentDetails,
): Promise<AssignmentRow> {
  const row = toRow(change, conversation, details);
  await insertAll(change.tx, "assignments", [row]);
  return row;
}

/** The same for several conversations. */
export async function recordAssignments(
  change: Change,
  assignments: readonly { readonly conversation: ConversationRow; readonly details: AssignmentDetails }[],
): Promise<void> {
  const rows = assignments.map(({ conversation, details }) => toRow(change, conversation, details));
  await insertAll(change.tx, "assignments", rows);
}

function toRow(
  { actor, now }: Change,
  conversation: ConversationRow,
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
    ...{ assignment_type, reason, over_capacity },
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
