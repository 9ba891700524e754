/** The record of who had a conversation: one row for each time it was given to somebody or taken off. */
import type { Selectable } from "kysely";
import type { assignmentTypes } from "../../../tools/conversations.ts";
import type { Queries } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { insertAll } from "../../database/query/index.ts";
import type { Tables } from "../../database/schema/index.ts";
import type { Change } from "../kernel/index.ts";
import type { Thread } from "./move.ts";

type Assignment = Selectable<Tables["assignments"]>;

interface Given {
  readonly assignment_type: (typeof assignmentTypes)[number];
  /** Who did it; null for routing. */
  readonly assigned_by?: string | null;
  readonly reason: string | null | undefined;
  readonly over_capacity?: boolean;
}

/** Records the agent and the team that the thread now has. */
export async function recordAssignment(work: Change, thread: Thread, given: Given): Promise<Assignment> {
  const [recorded] = await recordAssignments(work, [{ thread, given }]);
  return recorded as Assignment; // one for each
}

/** The same of several threads. */
export async function recordAssignments(
  { tx, now }: Change,
  assignments: readonly { readonly thread: Thread; readonly given: Given }[],
): Promise<Assignment[]> {
  const rows = assignments.map(({ thread, given }): Assignment => {
    const { assignment_type, assigned_by = null, reason = null, over_capacity = false } = given;
    return {
      organization_id: thread.organization_id,
      id: newId("asg", now),
      conversation_id: thread.id,
      contact_id: thread.contact_id,
      assigned_to: thread.assigned_to,
      team_id: thread.team_id,
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
