/** Messages that waited when a backup was made: after its restore, nobody knows whether they were sent. */
import { columnsOf, rowsOf } from "../../../../database/query/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";

/**
 * Marks all queued messages as if their send had begun when the backup was made. So the delivery looks them
 * up at the channel, sends only what the channel says that it never received, and ends the others as
 * unconfirmed unless a receipt arrives.
 */
export async function claimRestoredMessages(
  tx: Transaction,
  backupMadeAt: string,
): Promise<readonly { readonly organization_id: string; readonly id: string }[]> {
  const { rows } = await rowsOf(columnsOf("messages", "organization_id", "id"))`
    update messages set status = 'sending', claimed_at = coalesce(claimed_at, ${backupMadeAt}::timestamptz)
    where status in ('queued', 'sending')
    returning organization_id, id
  `.execute(tx);
  return rows;
}
