/**
 * Reads the events that were committed after a cursor.
 *
 * Neither ids nor times are in commit order, so a cursor is a database snapshot: it lists the transactions
 * that had ended. If more events have been committed than fit one page, the cursor also has the snapshot up
 * to which it reads and the last event of the page: `seen/until/transaction.id`.
 */
import { type RawBuilder, sql } from "kysely";
import type { z } from "zod";
import type { webhooks as contract } from "../../../../../tools/webhooks.ts";
import type { Queries } from "../../../../database/database.ts";
import { lowestId } from "../../../../database/id.ts";
import {
  nullable,
  ofOrganization,
  readSnapshot,
  readWithSnapshot,
  rowsOf,
} from "../../../../database/query/index.ts";
import { type CursorTexts, failCursor, openCursorTexts } from "../../../foundation/cursor-texts.ts";
import type { ReadContext, World } from "../../../foundation/kernel/index.ts";

type Page = z.input<typeof contract.list_events.output>;

const defaultPageSize = 100;

interface EventCursor {
  /** The events that this snapshot sees have been returned. */
  readonly seen: string;
  readonly page: { readonly until: string; readonly transaction: string; readonly id: string } | undefined;
}

interface Start {
  /** The cursor of an earlier page. */
  readonly after?: string | undefined;
  /** Events from this time on are read. */
  readonly since?: string | undefined;
  /** Other events are skipped. */
  readonly types: readonly string[];
  readonly per_page: number;
}

/** The texts of the cursors of events. */
export function openEventCursors(world: World): Promise<CursorTexts> {
  const advice =
    "Read on with list_events and since, the time of the last event that you have; some events may come a second time, with the same ids";
  return openCursorTexts(world, advice);
}

/** Reads from the cursor, from the time, or from now on. @throws Failure `invalid_cursor`. */
export async function readEvents(
  { db, world, organization }: Pick<ReadContext, "db" | "world" | "organization">,
  { after: text, since, types, per_page: size }: Start,
): Promise<Page> {
  const texts = await openEventCursors(world);
  const cursor = text === undefined || text === "" ? text : texts.read(text);
  const after = cursor ?? (since && (await findCursorAt(db, organization, since)));
  if (after === undefined || after === "") {
    return { data: [], meta: { cursor: texts.write(await readSnapshot(db)) } };
  }
  const { events, next } = await readPageAfter(db, organization, { after, types, size });
  return {
    // `recordEvents` wrote the body from an event.
    data: events.map(({ body }): Page["data"][number] => JSON.parse(body)),
    meta: { cursor: texts.write(next) },
  };
}

export interface RecordedEvent {
  readonly type: string;
  /** The event as JSON. */
  readonly body: string;
  /** The cursor after this event. */
  readonly cursor: string;
}

export interface EventsAfter {
  readonly events: readonly RecordedEvent[];
  /** The cursor after the page. */
  readonly next: string;
}

/** The events after a cursor, at most `size`. @throws Failure `invalid_cursor`. */
export async function readPageAfter(
  db: Queries,
  organization: string,
  {
    after,
    types,
    size = defaultPageSize,
  }: { readonly after: string; readonly types: readonly string[]; readonly size?: number },
): Promise<EventsAfter> {
  const position = readCursor(after);
  const select = committedSince(db, organization, { ...position, types, limit: size + 1 });
  const { rows, snapshot } = await readWithSnapshot(db, select, sql`transaction_id, id`);
  if (endOf(position.seen) > endOf(snapshot)) {
    // The cursor is of another database that has seen more transactions.
    throw failCursor(after, "of another database");
  }
  const until = position.page?.until ?? snapshot;
  const events = rows.slice(0, size).map(({ id, type, body, transaction_id }) => ({
    type,
    body,
    cursor: `${position.seen}/${until}/${transaction_id}.${id}`,
  }));
  const last = rows.length > size ? events.at(-1) : undefined;
  return { events, next: last?.cursor ?? until };
}

/** The cursor that reads on from a snapshot, up to another. */
export function boundCursor(seen: string, until: string): string {
  return seen.includes("/") ? seen : `${seen}/${until}/0.evt_0`;
}

/** A cursor that reads everything after a snapshot, and of which `isForgotten` knows the time. */
export function datedCursor(seen: string, now: Date): string {
  return `${seen}/${seen}/0.${lowestId("evt", now)}`;
}

/** Whether the last event before the cursor is older than this time. Only the cursor of a page has one. */
export function isForgotten(cursor: string, before: Date): boolean {
  const id = readCursor(cursor).page?.id;
  return id !== undefined && id < lowestId("evt", before);
}

/**
 * A snapshot that has seen everything before the first event of this time or later; undefined if there is no
 * such event.
 */
async function findCursorAt(db: Queries, organization: string, since: string): Promise<string | undefined> {
  const { rows } = await rowsOf({ first: nullable("text") })`
    -- Reads the index of times: the index of transactions would be read from the oldest event on.
    with recent as materialized (
      select transaction_id from events
      where organization_id = ${organization} and created_at >= ${since}::timestamptz
    )
    select min(transaction_id::text::bigint)::text as first from recent
  `.execute(db);
  const first = rows[0]?.first ?? undefined;
  return first && `${first}:${first}:`;
}

/** The first transaction that had not begun in a snapshot `xmin:xmax:running`. */
function endOf(snapshot: string): bigint {
  return BigInt(snapshot.split(":")[1] ?? 0);
}

/**
 * The events of transactions that had not begun or were running in the snapshot `seen`. Two ranges of the
 * index: a scan from the oldest running transaction would read every event since, however many of them the
 * snapshot has seen.
 */
function committedSince(
  db: Queries,
  organization: string,
  { seen, page, types, limit }: EventCursor & Pick<Start, "types"> & { readonly limit: number },
) {
  const select = (isUnseen: RawBuilder<boolean>) =>
    ofOrganization(db, organization)
      .selectFrom("events")
      .select(["id", "type", "body", "transaction_id"])
      .where(isUnseen)
      .where(sql<boolean>`type = any(${types}::text[])`)
      // The events of a contact that is being erased are hidden until the job has deleted them.
      .where(
        sql<boolean>`not exists (
          select from erasures
          where erasures.organization_id = events.organization_id
            and erasures.subject in (events.conversation_id, events.contact_id)
        )`,
      )
      .$if(page !== undefined, (query) =>
        query
          .where(sql<boolean>`transaction_id < pg_snapshot_xmax(${page?.until}::text::pg_snapshot)`)
          .where(sql<boolean>`pg_visible_in_snapshot(transaction_id, ${page?.until}::text::pg_snapshot)`)
          .where(sql<boolean>`(transaction_id, id) > (${page?.transaction}::text::xid8, ${page?.id}::text)`),
      )
      .orderBy("transaction_id")
      .orderBy("id")
      .limit(limit);
  const later = select(sql`transaction_id >= pg_snapshot_xmax(${seen}::text::pg_snapshot)`);
  const running = select(
    sql`transaction_id = any(array(select pg_snapshot_xip(${seen}::text::pg_snapshot)))`,
  );
  return db
    .selectFrom(
      db
        .selectFrom(later.as("later"))
        .selectAll()
        .unionAll(db.selectFrom(running.as("running")).selectAll())
        .as("unseen"),
    )
    .selectAll()
    .orderBy("transaction_id")
    .orderBy("id")
    .limit(limit);
}

function readCursor(text: string): EventCursor {
  const [seen = "", until, last = ""] = text.split("/");
  if (isSnapshot(seen) && until === undefined) {
    return { seen, page: undefined };
  }
  const [, transaction, id] = /^(\d{1,18})\.(evt_\w{1,60})$/.exec(last) ?? [];
  if (!isSnapshot(seen) || !isSnapshot(until ?? "") || transaction === undefined || id === undefined) {
    throw failCursor(text, "not a cursor that list_events returned");
  }
  return { seen, page: { until: until ?? "", transaction, id } };
}

/** Whether PostgreSQL accepts the text as a snapshot: `xmin:xmax:xip,…`, in ascending order. */
function isSnapshot(text: string): boolean {
  const [, xmin, xmax, running] = /^(\d{1,18}):(\d{1,18}):((?:\d{1,18}(?:,\d{1,18})*)?)$/.exec(text) ?? [];
  if (xmin === undefined || xmax === undefined || running === undefined || BigInt(xmin) < 1n) {
    return false;
  }
  const numbers = [xmin, ...running.split(",").filter(Boolean), xmax].map(BigInt);
  return numbers.every((number, index) => index === 0 || number >= (numbers[index - 1] ?? 0n));
}
