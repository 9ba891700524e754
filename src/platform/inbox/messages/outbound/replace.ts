/** Detaches failed messages from their broadcast, which sends to their recipients again. */
import { rowsOf } from "../../../../database/query/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import { internalFailures } from "../wording/index.ts";

interface ReplacedMessages {
  readonly organization: string;
  readonly broadcast_id: string;
  /** Only messages whose error says that a retry can help. */
  readonly onlyRetryable: boolean;
  /** Also messages that may have arrived. */
  readonly includesUnconfirmed: boolean;
}

/** @returns the ids of the messages, which no longer count in the broadcast. */
export async function replaceBroadcastMessages(
  tx: Transaction,
  { organization, broadcast_id, onlyRetryable, includesUnconfirmed }: ReplacedMessages,
): Promise<readonly string[]> {
  const { rows } = await rowsOf({ id: "text" })`
    with failed as (
      select id from messages
      where organization_id = ${organization} and broadcast_id = ${broadcast_id} and status = 'failed'
        and case
          when error ->> 'code' = ${internalFailures.unconfirmed.code} then ${includesUnconfirmed}::boolean
          else not ${onlyRetryable} or (error ->> 'retryable')::boolean
        end
      order by id for update
    )
    update messages set broadcast_id = null from failed
    where messages.organization_id = ${organization} and messages.id = failed.id
    returning messages.id
  `.execute(tx);
  return rows.map(({ id }) => id);
}
