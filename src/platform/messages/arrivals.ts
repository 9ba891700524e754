/** Reads what contacts wrote after a place in the stream, and which place comes then. */
import { type SelectQueryBuilder, sql } from "kysely";
import type { Queries } from "../../database/database.ts";
import type { Tables } from "../../database/schema.ts";
import { refersTo } from "../core/refers-to.ts";
import { type Cursor, cursorAt, noCursor, readCursor } from "./cursor.ts";
import type { MessageRow } from "./progress.ts";

/** Messages of one answer: what a model reads at once, and what keeps a burst from filling its context. */
const mostMessages = 20;

export interface Place {
  readonly db: Queries;
  readonly organization: string;
  readonly now: Date;
}

/**
 * Where a wait begins: at the cursor, behind the message with this id, or now.
 * @throws Failure `invalid_cursor`.
 */
export async function beginAt(after: string | undefined, { db, organization, now }: Place): Promise<Cursor> {
  if (after === undefined) {
    const { snapshot } = await readInSnapshot(db, db.selectFrom("messages").select("id").limit(0));
    return cursorAt(snapshot, now);
  }
  if (!after.startsWith("msg_")) {
    return readCursor(after);
  }
  const message = await db
    .selectFrom("messages")
    .select("id")
    .where("organization_id", "=", organization)
    .where("id", "=", after)
    .executeTakeFirst();
  if (!message) {
    throw noCursor(after);
  }
  return { seen: null, from: message.id, rest: null };
}

/** The next messages, oldest first, and the place behind them. */
export async function readArrivals(
  cursor: Cursor,
  place: Place & { readonly conversation_id: string | undefined },
): Promise<{ messages: MessageRow[]; next: Cursor }> {
  const { seen, from, rest } = cursor;
  const found = inbound(place, rest?.last ?? from)
    .selectAll("messages")
    .$if(seen !== null, (query) => query.where(isCommittedAfter(seen ?? "")))
    .$if(rest !== null, (query) => query.where(sql<boolean>`not ${isCommittedAfter(rest?.until ?? "")}`))
    .orderBy("messages.id")
    .limit(mostMessages + 1);
  const { rows, snapshot } = await readInSnapshot(place.db, found);
  const messages = rows.slice(0, mostMessages);
  const last = messages.at(-1)?.id;
  if (last !== undefined && rows.length > mostMessages) {
    return { messages, next: { seen, from, rest: { until: rest?.until ?? snapshot, last } } };
  }
  const next = rest ? { seen: rest.until, from, rest: null } : cursorAt(snapshot, place.now);
  return last === undefined && rest ? readArrivals(next, place) : { messages, next };
}

/** The conversations in which something arrived after this snapshot, and the snapshot of now. */
export async function readTouched(cursor: Cursor, place: Place) {
  const found = inbound(place, cursor.from)
    .select("messages.conversation_id")
    .where(isCommittedAfter(cursor.seen ?? ""))
    .distinct();
  const { rows, snapshot } = await readInSnapshot(place.db, found);
  return {
    conversations: rows.map(({ conversation_id }) => conversation_id),
    next: cursorAt(snapshot, place.now),
  };
}

/** What a query finds, with the very snapshot in which it looked. */
export async function readInSnapshot<Row>(
  db: Queries,
  query: SelectQueryBuilder<Tables, "messages", Row>,
): Promise<{ rows: Row[]; snapshot: string }> {
  const { rows } = await sql<Row & { snapshot: string; is_found: boolean | null }>`
    select moment.snapshot, found.*
    from (select pg_current_snapshot()::text as snapshot) as moment
    left join lateral (select true as is_found, one.* from ${query} as one) as found on true
  `.execute(db);
  const snapshot = rows[0]?.snapshot ?? "";
  return { rows: rows.filter(({ is_found }) => is_found), snapshot };
}

/** Inbound messages with a newer id, of contacts that have not been erased. */
function inbound(
  { db, organization, conversation_id }: Place & { readonly conversation_id?: string | undefined },
  from: string,
) {
  return db
    .selectFrom("messages")
    .innerJoin("conversations", (join) => join.on(refersTo("messages.conversation_id", "conversations")))
    .where("conversations.erased_at", "is", null)
    .where("messages.organization_id", "=", organization)
    .where("messages.direction", "=", "inbound")
    .where("messages.id", ">", from)
    .$if(conversation_id !== undefined, (query) =>
      query.where("messages.conversation_id", "=", conversation_id ?? ""),
    );
}

function isCommittedAfter(snapshot: string) {
  return sql<boolean>`(not pg_visible_in_snapshot(messages.transaction_id, ${snapshot}::pg_snapshot))`;
}
