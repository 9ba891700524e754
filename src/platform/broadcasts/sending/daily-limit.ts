/** How many messages of broadcasts an inbox may still send: channels limit them in a moving 24 hours. */
import { sql } from "kysely";
import { InboxSettings } from "../../../../tools/inboxes.ts";
import type { Transaction } from "../../../database/database.ts";
import { lowestId } from "../../../database/id.ts";
import { onlyRow } from "../../../database/query/index.ts";

const dayMs = 24 * 3_600_000;

interface LimitedInbox {
  readonly organization_id: string;
  readonly id: string;
  readonly settings: Record<string, unknown>;
}

/** Null: any number. Message ids sort by time, so that only those of the last day are counted. */
export async function leftToday(tx: Transaction, inbox: LimitedInbox, now: Date): Promise<number | null> {
  const { daily_limit } = InboxSettings.parse(inbox.settings);
  if (daily_limit === undefined) {
    return null;
  }
  // Two broadcasts of one inbox must not both use what is left.
  await tx
    .selectFrom("inboxes")
    .select("id")
    .where("organization_id", "=", inbox.organization_id)
    .where("id", "=", inbox.id)
    .forNoKeyUpdate()
    .execute();
  const since = lowestId("msg", new Date(now.getTime() - dayMs));
  const { rows } = await sql<{ count: number }>`
    select count(*) as count
    from broadcasts join messages
      on messages.organization_id = broadcasts.organization_id and messages.broadcast_id = broadcasts.id
    where broadcasts.organization_id = ${inbox.organization_id} and broadcasts.inbox_id = ${inbox.id}
      and messages.id >= ${since}
  `.execute(tx);
  return Math.max(0, daily_limit - onlyRow(rows).count);
}
