/** Lists conversations: filters, sort orders, and a preview of each conversation's latest message. */
import { type ExpressionBuilder, sql } from "kysely";
import type { z } from "zod";
import type {
  conversations as contract,
  conversationFilters,
  conversationOrders,
} from "../../../../../tools/conversations.ts";
import { fail } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import {
  columnOf,
  columnsOf,
  isDeepPage,
  nullable,
  type RowOf,
  readPage,
  rowsOf,
  withTimeLimit,
} from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import type { Caller, ReadContext } from "../../../foundation/kernel/index.ts";
import { selectConversations, windowMs, windowOf } from "../../conversations/index.ts";

type Input = z.output<typeof contract.list_conversations.input>;

/** Characters of a preview; list_messages returns the whole text. */
const previewLength = 120;

/** The inputs that are named as the columns that they are compared with. */
const equalityFilters = ["inbox_id", "contact_id", "team_id", "assigned_to", "status"] as const;

export async function listConversations(input: Input, context: ReadContext) {
  return isDeepPage(input)
    ? withTimeLimit(context.world.database, (db) => readConversations(input, { ...context, db }))
    : readConversations(input, context);
}

async function readConversations(input: Input, { db, organization, caller, now }: ReadContext) {
  const { filter, sort, tag } = input;
  let query = selectConversations(db, organization);
  for (const column of equalityFilters) {
    const value = input[column];
    if (value !== undefined) {
      query = query.where(column, "=", value);
    }
  }
  if (tag !== undefined) {
    query = query.where(sql<boolean>`tags @> array[${tag}]::text[]`);
  }
  if (filter) {
    query = query.where((rows) => filters[filter](rows, caller, now));
  }
  const { rows, meta } = await readPage(orders[sort](query).selectAll(), input);
  const conversations = await addDetails(db, organization, rows);
  return { data: conversations.map((row) => ({ ...row, ...windowOf(row, now) })), meta };
}

type ConversationQuery = ReturnType<typeof selectConversations>;
type Order = (typeof conversationOrders)[number];

const orders: Record<Order, (query: ConversationQuery) => ConversationQuery> = {
  latest: (query) =>
    query.orderBy("last_message_at", (order) => order.desc().nullsLast()).orderBy("conversations.id", "desc"),
  waiting: (query) => query.orderBy("waiting_since", (order) => order.asc().nullsLast()).orderBy("id"),
};

type Filter = (typeof conversationFilters)[number];
type Rows = ExpressionBuilder<Tables, "conversations">;

const filters: Record<Filter, (rows: Rows, caller: Caller, now: Date) => ReturnType<Rows["and"]>> = {
  assigned_to_me: (rows, caller) =>
    rows.and([rows("assigned_to", "=", requireUserId(caller, "assigned_to_me"))]),
  unassigned: (rows) => rows.and([rows("assigned_to", "is", null)]),
  assigned_to_others: (rows, caller) =>
    rows.and([rows("assigned_to", "!=", requireUserId(caller, "assigned_to_others"))]),
  mine_or_unassigned: (rows, caller) =>
    rows.or([
      rows("assigned_to", "=", requireUserId(caller, "mine_or_unassigned")),
      rows("assigned_to", "is", null),
    ]),
  // The same expressions as in the partial indexes; the planner uses these for no other.
  favorite: (rows) => rows.and([sql<boolean>`is_favorite`]),
  unread: (rows) => rows.and([sql<boolean>`is_unread`]),
  unanswered: (rows) => rows.and([rows("waiting_since", "is not", null)]),
  expired_window: (rows, _, now) =>
    rows.and([rows("last_user_message_at", "<=", new Date(now.getTime() - windowMs).toISOString())]),
};

function requireUserId(caller: Caller, filter: Filter): string {
  if (!caller.user) {
    throw fail("needs_user", { value: filter, param: "filter" });
  }
  return caller.user.id;
}

const detailColumns = {
  contact_name: columnOf("contacts", "name"),
  ...columnsOf("contacts", "phone_number"),
  ...columnsOf("inboxes", "platform"),
  assigned_to_name: nullable(columnOf("users", "name")),
  direction: nullable(columnOf("messages", "direction")),
  type: nullable(columnOf("messages", "type")),
  text: nullable("text"),
};

type Details = RowOf<typeof detailColumns>;

/** Adds contact, platform and latest message. Joined for one page only, so that deep pages cost no more. */
async function addDetails<Row extends { id: string }>(
  db: Queries,
  organization: string,
  page: readonly Row[],
) {
  const { rows } = await rowsOf({ ...columnsOf("conversations", "id"), ...detailColumns })`
    select conversations.id, contacts.name as contact_name, contacts.phone_number, inboxes.platform,
      users.name as assigned_to_name,
      latest.direction, latest.type, latest.text
    from conversations
    join contacts using (organization_id)
    join inboxes using (organization_id)
    left join users on users.organization_id = conversations.organization_id and users.id = conversations.assigned_to
    left join lateral (
      select direction, type,
        coalesce(content #>> '{text,body}', content #>> '{media,caption}', content #>> '{reply,title}',
          content #>> '{interactive,body}', content #>> '{template,body}') as text
      from messages
      where organization_id = conversations.organization_id and conversation_id = conversations.id
      order by id desc limit 1
    ) as latest on true
    where conversations.organization_id = ${organization} and conversations.id = any(${page.map(({ id }) => id)}::text[])
      and contacts.id = conversations.contact_id and inboxes.id = conversations.inbox_id
  `.execute(db);
  const details = new Map(rows.map((row) => [row.id, row]));
  return page.flatMap((row) => {
    const added = details.get(row.id);
    return added ? [{ ...row, ...added, last_message: previewOf(added) }] : [];
  });
}

function previewOf({ direction, type, text }: Details) {
  const isLong = text !== null && text.length > previewLength;
  return direction && type
    ? { direction, type, text: isLong ? `${text.slice(0, previewLength)}…` : text }
    : null;
}
