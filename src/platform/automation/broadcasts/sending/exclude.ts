/**
 * Excludes recipients after the execution: they no longer count in the total, and the amount held for them is
 * released.
 */
import { sql } from "kysely";
import type { ExclusionReason } from "../../../../../tools/broadcasts/index.ts";
import { newId } from "../../../../database/id.ts";
import {
  columnsOf,
  matchesKey,
  type RowOf,
  recordset,
  rowsOf,
  typed,
} from "../../../../database/query/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import { recordTransfers } from "../../../money/wallet/index.ts";
import type { BroadcastRow } from "../find.ts";

const excludedColumns = {
  ...columnsOf("broadcast_recipients", "contact_id", "price"),
  reason: typed<ExclusionReason>("text"),
};

type ExcludedRecipient = RowOf<typeof excludedColumns>;

interface ExcludeContext {
  readonly tx: Transaction;
  readonly now: Date;
  readonly broadcast: BroadcastRow;
}

/** The recipients must be pending and locked. */
export async function excludeRecipients(
  { tx, now, broadcast }: ExcludeContext,
  recipients: readonly ExcludedRecipient[],
): Promise<void> {
  const { organization_id, id } = broadcast;
  if (recipients.length === 0) {
    return;
  }
  const contacts = recipients.map(({ contact_id }) => contact_id);
  await sql`
    update broadcast_recipients set status = 'excluded', reason = excluded.reason, variables = null
    from ${recordset("excluded", columnsOf("broadcast_recipients", "contact_id", "reason"), recipients)}
    where organization_id = ${organization_id} and broadcast_id = ${id}
      and ${matchesKey("broadcast_recipients.contact_id", "excluded.contact_id", contacts)}
  `.execute(tx);
  await recordExcluded({ tx, now, broadcast }, recipients);
}

/** Excludes all pending recipients. */
export async function excludePending(context: ExcludeContext, reason: ExclusionReason): Promise<void> {
  const { organization_id, id } = context.broadcast;
  const { rows } = await rowsOf(excludedColumns)`
    update broadcast_recipients set status = 'excluded', reason = ${reason}
    where organization_id = ${organization_id} and broadcast_id = ${id} and status = 'pending'
    returning contact_id, price, reason
  `.execute(context.tx);
  await recordExcluded(context, rows);
}

async function recordExcluded(
  { tx, now, broadcast }: ExcludeContext,
  recipients: readonly ExcludedRecipient[],
): Promise<void> {
  const { organization_id, id, currency, simulated } = broadcast;
  const added: Record<string, number> = {};
  for (const { reason } of recipients) {
    added[reason] = (added[reason] ?? 0) + 1;
  }
  await sql`
    update broadcasts set total = total - ${recipients.length}, excluded = (
      select coalesce(jsonb_object_agg(reason, count), '{}') from (
        select key as reason, sum(value::int) as count
        from (select * from jsonb_each_text(excluded) union all select * from jsonb_each_text(${JSON.stringify(added)}::jsonb))
          as each (key, value)
        group by key
      ) as sums
    )
    where organization_id = ${organization_id} and id = ${id}
  `.execute(tx);
  const amount = recipients.reduce((sum, { price }) => sum + (price ?? 0), 0);
  if (amount > 0 && currency !== null) {
    const release = { type: "release", from_account: "held", to_account: "wallet", amount } as const;
    // Each recipient is released once, because the statement changes only pending recipients.
    const reference = `${id}:release:${newId("batch", now)}`;
    const cause = { organization_id, reference, currency, message_id: null, simulated };
    await recordTransfers(tx, [{ ...cause, ...release }], now);
  }
}
