/** The list of conversations: filters, orders, and a preview of each one's latest message. */
import { type ExpressionBuilder, sql } from "kysely";
import type { z } from "zod";
import type {
  conversations as contract,
  conversationFilters,
  conversationOrders,
} from "../../../tools/conversations.ts";
import { fail } from "../../../tools/failure.ts";
import type { Queries } from "../../database/database.ts";
import type { Tables } from "../../database/schema.ts";
import { readPage } from "../core/page.ts";
import type { Caller, ReadContext } from "../core/world.ts";
import { windowMs, windowOf } from "./window.ts";

type Input = z.output<typeof contract.list_conversations.input>;

/** Longer texts are cut: a list tells which conversation it is, and list_messages the rest. */
const previewLength = 120;

export async function listConversations(
  { filter, sort, tag, page, per_page, ...equal }: Input,
  { db, organization, caller, now }: ReadContext,
) {
  let found = threads(db, organization);
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) {
      // The remaining inputs are named as the columns that they compare with.
      found = found.where(`conversations.${column as keyof typeof equal}`, "=", value);
    }
  }
  if (tag !== undefined) {
    found = found.where(sql<boolean>`${tag} = any(conversations.tags)`);
  }
  if (filter) {
    found = found.where((rows) => filters[filter](rows, caller, now));
  }
  const shown = orders[sort](found)
    .selectAll("conversations")
    .select(["contacts.name as contact_name", "contacts.phone_number", "inboxes.platform"]);
  const { rows, meta } = await readPage(shown, { page, per_page });
  const previews = await readPreviews(
    db,
    organization,
    rows.map(({ id }) => id),
  );
  const data = rows.map((row) => ({
    ...row,
    ...windowOf(row, now),
    last_message: previews.get(row.id) ?? null,
  }));
  return { data, meta };
}

/** Threads whose contact has not been erased. */
export function threads(db: Queries, organization: string) {
  return db
    .selectFrom("conversations")
    .innerJoin("contacts", (join) =>
      join
        .onRef("contacts.organization_id", "=", "conversations.organization_id")
        .onRef("contacts.id", "=", "conversations.contact_id"),
    )
    .innerJoin("inboxes", (join) =>
      join
        .onRef("inboxes.organization_id", "=", "conversations.organization_id")
        .onRef("inboxes.id", "=", "conversations.inbox_id"),
    )
    .where("conversations.organization_id", "=", organization)
    .where("contacts.erased_at", "is", null);
}

type Found = ReturnType<typeof threads>;
type Order = (typeof conversationOrders)[number];

const orders: Record<Order, (found: Found) => Found> = {
  latest: (found) =>
    found.orderBy("last_message_at", (order) => order.desc().nullsLast()).orderBy("conversations.id", "desc"),
  waiting: (found) =>
    found.orderBy("waiting_since", (order) => order.asc().nullsLast()).orderBy("conversations.id"),
};

type Filter = (typeof conversationFilters)[number];
type Rows = ExpressionBuilder<Tables, "conversations">;

const filters: Record<Filter, (rows: Rows, caller: Caller, now: Date) => ReturnType<Rows["and"]>> = {
  assigned_to_me: (rows, caller) =>
    rows.and([rows("conversations.assigned_to", "=", personOf(caller, "assigned_to_me"))]),
  unassigned: (rows) => rows.and([rows("conversations.assigned_to", "is", null)]),
  assigned_to_others: (rows, caller) =>
    rows.and([rows("conversations.assigned_to", "!=", personOf(caller, "assigned_to_others"))]),
  mine_or_unassigned: (rows, caller) =>
    rows.or([
      rows("conversations.assigned_to", "=", personOf(caller, "mine_or_unassigned")),
      rows("conversations.assigned_to", "is", null),
    ]),
  favorite: (rows) => rows.and([rows("conversations.is_favorite", "=", true)]),
  unread: (rows) => rows.and([rows("conversations.is_unread", "=", true)]),
  unanswered: (rows) => rows.and([rows("conversations.waiting_since", "is not", null)]),
  expired_window: (rows, _, now) =>
    rows.and([
      rows("conversations.last_user_message_at", "<=", new Date(now.getTime() - windowMs).toISOString()),
    ]),
};

function personOf(caller: Caller, filter: Filter): string {
  if (!caller.user) {
    throw fail("needs_user", { value: filter, param: "filter" });
  }
  return caller.user.id;
}

/** The latest message of each of these threads, in few words. */
async function readPreviews(db: Queries, organization: string, ids: readonly string[]) {
  const rows = await sql<{
    id: string;
    direction: "inbound" | "outbound";
    type: string;
    text: string | null;
  }>`
    select thread.id, latest.direction, latest.type, latest.text
    from unnest(${ids}::text[]) as thread (id)
    cross join lateral (
      select direction, type,
        coalesce(content #>> '{text,body}', content #>> '{media,caption}', content #>> '{reply,title}',
          content #>> '{interactive,body}') as text
      from messages
      where organization_id = ${organization} and conversation_id = thread.id
      order by id desc limit 1
    ) as latest
  `.execute(db);
  return new Map(rows.rows.map(({ id, text, ...rest }) => [id, { ...rest, text: shorten(text) }]));
}

function shorten(text: string | null): string | null {
  return text !== null && text.length > previewLength ? `${text.slice(0, previewLength)}…` : text;
}
