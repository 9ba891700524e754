/** Reads the inbound messages after a cursor, and the cursor after them. */
import { sql } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import {
  ofOrganization,
  readSnapshot,
  readWithSnapshot,
  refersTo,
} from "../../../../database/query/index.ts";
import type { MessageRow } from "../progress/index.ts";
import { channelOfMessage } from "../serialize.ts";
import { type Cursor, createCursorError, cursorAt, type MessageCursors } from "./cursor.ts";

/** Per call: enough to read at once, and few enough that a burst does not fill a model's context. */
const maxMessages = 20;

export interface InboundQuery {
  readonly db: Queries;
  readonly organization: string;
  readonly now: Date;
}

/**
 * Where a wait begins: at the cursor, after the message with this id, or now.
 * @throws Failure `invalid_cursor`.
 */
export async function startCursor(
  after: string | undefined,
  { db, organization, now, cursors }: InboundQuery & { readonly cursors: MessageCursors },
): Promise<Cursor> {
  if (after === undefined) {
    return cursorAt(await readSnapshot(db), now);
  }
  if (!after.startsWith("msg_")) {
    return cursors.read(after);
  }
  const message = await ofOrganization(db, organization)
    .selectFrom("messages")
    .select("id")
    .where("id", "=", after)
    .executeTakeFirst();
  if (!message) {
    throw createCursorError(after);
  }
  return { seen: null, from: message.id, page: null };
}

/** The next messages, oldest first, and the cursor after them. */
export async function readInbound(
  cursor: Cursor,
  query: InboundQuery & { readonly conversation_id: string | undefined },
): Promise<{ messages: (MessageRow & { readonly channel: string })[]; next: Cursor }> {
  const { seen, from, page } = cursor;
  const select = selectInbound(query, page?.last ?? from)
    .selectAll("messages")
    .select(channelOfMessage)
    .$if(seen !== null, (rows) => rows.where(isCommittedAfter(seen ?? "")))
    .$if(page !== null, (rows) => rows.where(sql<boolean>`not ${isCommittedAfter(page?.until ?? "")}`))
    .orderBy("messages.id")
    .limit(maxMessages + 1);
  const { rows, snapshot } = await readWithSnapshot(query.db, select, sql`id`);
  const messages = rows.slice(0, maxMessages);
  const last = messages.at(-1)?.id;
  if (last !== undefined && rows.length > maxMessages) {
    return { messages, next: { seen, from, page: { until: page?.until ?? snapshot, last } } };
  }
  const next = page ? { seen: page.until, from, page: null } : cursorAt(snapshot, query.now);
  // The rest of the page was empty: continue with what was committed after it.
  return last === undefined && page ? readInbound(next, query) : { messages, next };
}

/** The conversations in which a message was committed after the cursor, and the cursor for the next call. */
export async function readChangedConversations(cursor: Cursor, query: InboundQuery) {
  const select = selectInbound(query, cursor.from)
    .select("messages.conversation_id")
    .where(isCommittedAfter(cursor.seen ?? ""))
    .distinct();
  const { rows, snapshot } = await readWithSnapshot(query.db, select, sql`conversation_id`);
  return {
    conversations: rows.map(({ conversation_id }) => conversation_id),
    next: cursorAt(snapshot, query.now),
  };
}

/** Inbound messages with an id after `from`, without the messages of erased contacts. */
function selectInbound(
  { db, organization, conversation_id }: InboundQuery & { readonly conversation_id?: string | undefined },
  from: string,
) {
  return ofOrganization(db, organization)
    .selectFrom("messages")
    .innerJoin("conversations", (join) => join.on(refersTo("messages.conversation_id", "conversations")))
    .where("conversations.erased_at", "is", null)
    .where("messages.direction", "=", "inbound")
    .where(sql<boolean>`messages.content -> 'imported' is null`)
    .where("messages.id", ">", from)
    .$if(conversation_id !== undefined, (query) =>
      query.where("messages.conversation_id", "=", conversation_id ?? ""),
    );
}

function isCommittedAfter(snapshot: string) {
  return sql<boolean>`(not pg_visible_in_snapshot(messages.transaction_id, ${snapshot}::pg_snapshot))`;
}
