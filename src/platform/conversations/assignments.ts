/** The record of who had a conversation: one row for each time it was given to somebody or taken off. */
import type { Selectable } from "kysely";
import type { assignmentTypes } from "../../../tools/conversations.ts";
import type { Queries } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { insertAll } from "../../database/query/index.ts";
import type { Tables } from "../../database/schema/index.ts";
import type { Change } from "../kernel/index.ts";
import type { Thread } from "./change.ts";

type Assignment = Selectable<Tables["assignments"]>;

interface AssignmentDetails {
  readonly assignment_type: (typeof assignmentTypes)[number];
  /** Who did it; null for routing. */
  readonly assigned_by?: string | null;
  readonly reason: string | null | undefined;
  readonly over_capacity?: boolean;
}

/** Records the agent and the team that the conversation now has. */
export async function recordAssignment(
  work: Change,
  conversation: Thread,
  given: AssignmentDetails,
): Promise<Assignment> {
  const [recorded] = await recordAssignments(work, [{ conversation, given }]);
  return recorded as Assignment; // one for each
}

/** The same of several conversations. */
export async function recordAssignments(
  { tx, now }: Change,
  assignments: readonly { readonly conversation: Thread; readonly given: AssignmentDetails }[],
): Promise<Assignment[]> {
  const rows = assignments.map(({ conversation, given }): Assignment => {
    const { assignment_type, assigned_by = null, reason = null, over_capacity = false } = given;
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
  });
  await insertAll(tx, "assignments", rows);
  return rows;
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
