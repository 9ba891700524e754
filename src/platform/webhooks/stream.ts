/** Reads events in the order in which their transactions began, and none before those before it have ended. */
import { sql } from "kysely";
import type { z } from "zod";
import type { webhooks as contract } from "../../../tools/webhooks.ts";
import type { Queries } from "../../database/database.ts";

type Page = z.input<typeof contract.list_events.output>["data"];

/** Events of one answer. */
const mostEvents = 100;

/**
 * A transaction that is still open may yet write an event that belongs before those seen so far. So only what
 * is older than every open one is shown: the cursor never passes over an event, and a long one delays it.
 */
export async function readEvents(db: Queries, organization: string, after?: string): Promise<Page> {
  const [transaction, id = ""] = after?.split(".") ?? [];
  if (transaction === undefined) {
    return { events: [], cursor: await begin(db) };
  }
  const { rows } = await sql<{ id: string; body: string; transaction_id: string }>`
    select id, body, transaction_id::text from events
    where organization_id = ${organization}
      and (transaction_id, id) > (${transaction}::text::xid8, ${id}::text)
      and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    order by transaction_id, id
    limit ${mostEvents}
  `.execute(db);
  const last = rows.at(-1);
  return {
    // Written by `record` from an event.
    events: rows.map(({ body }) => JSON.parse(body) as Page["events"][number]),
    cursor: last ? `${last.transaction_id}.${last.id}` : `${transaction}.${id}`,
  };
}

async function begin(db: Queries): Promise<string> {
  const { rows } = await sql<{ now: string }>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as now
  `.execute(db);
  return `${rows[0]?.now ?? "0"}.`;
}
