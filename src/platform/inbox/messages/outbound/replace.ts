/** Detaches failed messages from their broadcast, which sends to their recipients again. */
import { rowsOf } from "../../../../database/query/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";

/** @returns the ids of the messages, which no longer count in the broadcast. */
export async function replaceBroadcastMessages(
  tx: Transaction,
  {
    organization,
    broadcast_id,
    onlyRetryable,
  }: { readonly organization: string; readonly broadcast_id: string; readonly onlyRetryable: boolean },
): Promise<readonly string[]> {
  const { rows } = await rowsOf({ id: "text" })`
    with failed as (
      select id from messages
      where organization_id = ${organization} and broadcast_id = ${broadcast_id} and status = 'failed'
        and (not ${onlyRetryable} or (error ->> 'retryable')::boolean)
      order by id for update
    )
    update messages set broadcast_id = null from failed
    where messages.organization_id = ${organization} and messages.id = failed.id
    returning messages.id
  `.execute(tx);
  return rows.map(({ id }) => id);
}
