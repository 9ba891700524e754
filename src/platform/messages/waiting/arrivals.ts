/** Reads what contacts wrote after a place in the stream, and which place comes then. */
import { sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { readInSnapshot, readSnapshot, refersTo } from "../../../database/query/index.ts";
import type { MessageRow } from "../progress.ts";
import { type Cursor, cursorAt, noCursor, readCursor } from "./cursor.ts";

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
    return cursorAt(await readSnapshot(db), now);
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
  const { rows, snapshot } = await readInSnapshot(place.db, found, sql`id`);
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
  const { rows, snapshot } = await readInSnapshot(place.db, found, sql`conversation_id`);
  return {
    conversations: rows.map(({ conversation_id }) => conversation_id),
    next: cursorAt(snapshot, place.now),
  };
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
