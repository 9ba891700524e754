/**
 * Reads events from where one looked last: what was committed since.
 *
 * An id or a time can't tell that, because what began first may commit last; so a cursor is the database's own
 * snapshot of which transactions had ended. While more has come than one answer holds, it also says up to
 * which snapshot it reads, and behind which event it goes on.
 */
import { sql } from "kysely";
import type { z } from "zod";
import { failField } from "../../../tools/errors.ts";
import type { webhooks as contract } from "../../../tools/webhooks.ts";
import type { Queries } from "../../database/database.ts";
import { readInSnapshot, readSnapshot } from "../../database/query/index.ts";

type Page = z.input<typeof contract.list_events.output>["data"];

/** Events of one answer. */
const mostEvents = 100;

interface Cursor {
  /** What was committed in this snapshot has been seen. */
  readonly seen: string;
  readonly rest: { readonly until: string; readonly transaction: string; readonly id: string } | undefined;
}

/** @throws Failure `invalid_cursor`. */
export async function readEvents(db: Queries, organization: string, after?: string): Promise<Page> {
  if (after === undefined) {
    return { events: [], cursor: await readSnapshot(db) };
  }
  const cursor = readCursor(after);
  const found = committedSince(db, organization, cursor);
  const { rows, snapshot } = await readInSnapshot(db, found, sql`transaction_id, id`);
  const shown = rows.slice(0, mostEvents);
  const [last, until] = [shown.at(-1), cursor.rest?.until ?? snapshot];
  return {
    // Written by `record` from an event.
    events: shown.map(({ body }) => JSON.parse(body) as Page["events"][number]),
    cursor:
      last && rows.length > mostEvents ? `${cursor.seen}/${until}/${last.transaction_id}.${last.id}` : until,
  };
}

function committedSince(db: Queries, organization: string, { seen, rest }: Cursor) {
  return db
    .selectFrom("events")
    .select(["id", "body", "transaction_id"])
    .where("organization_id", "=", organization)
    .where(sql<boolean>`transaction_id >= pg_snapshot_xmin(${seen}::text::pg_snapshot)`)
    .where(sql<boolean>`not pg_visible_in_snapshot(transaction_id, ${seen}::text::pg_snapshot)`)
    .$if(rest !== undefined, (query) =>
      query
        .where(sql<boolean>`pg_visible_in_snapshot(transaction_id, ${rest?.until}::text::pg_snapshot)`)
        .where(sql<boolean>`(transaction_id, id) > (${rest?.transaction}::text::xid8, ${rest?.id}::text)`),
    )
    .orderBy("transaction_id")
    .orderBy("id")
    .limit(mostEvents + 1);
}

function readCursor(text: string): Cursor {
  const [seen = "", until, last] = text.split("/");
  const [, transaction, id] = /^(\d{1,18})\.(evt_\w{1,60})$/.exec(last ?? "") ?? [];
  const isWhole = until === undefined || (isSnapshot(until) && transaction !== undefined && id !== undefined);
  if (!isSnapshot(seen) || !isWhole) {
    throw failField("after", "invalid_cursor", { value: text });
  }
  return {
    seen,
    rest:
      until === undefined || transaction === undefined || id === undefined
        ? undefined
        : { until, transaction, id },
  };
}

/** What PostgreSQL takes for one: `xmin:xmax:xip,…`, each number no less than the one before. */
function isSnapshot(text: string): boolean {
  const [, xmin, xmax, open] = /^(\d{1,18}):(\d{1,18}):((?:\d{1,18}(?:,\d{1,18})*)?)$/.exec(text) ?? [];
  if (xmin === undefined || xmax === undefined || open === undefined || BigInt(xmin) < 1n) {
    return false;
  }
  const rising = [xmin, ...open.split(",").filter(Boolean), xmax].map(BigInt);
  return rising.every((number, index) => index === 0 || number >= (rising[index - 1] ?? 0n));
}
