/** Cancels runs, so that their next nodes are not run. */
import { type RawBuilder, sql } from "kysely";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";

export interface CancelScope {
  readonly reason: string;
  readonly conversation_id?: string;
  readonly flow_id?: string;
  readonly contact_id?: string;
}

export async function cancelRuns(
  { tx, now, organization }: OrganizationChange,
  scope: CancelScope,
): Promise<void> {
  await cancelStatement(organization, scope, now).execute(tx);
}

/** The statement that cancels the active runs of a conversation, a flow or a contact. */
export function cancelStatement(
  organization: string,
  { reason, conversation_id, flow_id, contact_id }: CancelScope,
  now: Date,
): RawBuilder<unknown> {
  const conditions = [
    conversation_id === undefined ? [] : sql`conversation_id = ${conversation_id}`,
    flow_id === undefined ? [] : sql`flow_id = ${flow_id}`,
    contact_id === undefined ? [] : sql`contact_id = ${contact_id}`,
  ].flat();
  return sql`
    update flow_runs set status = 'cancelled', reason = ${reason}, pending = '[]', wait = null, due_at = null,
      ended_at = ${now.toISOString()}::timestamptz
    where organization_id = ${organization} and status in ('running', 'waiting')
      and ${sql.join(conditions, sql` and `)}`;
}
