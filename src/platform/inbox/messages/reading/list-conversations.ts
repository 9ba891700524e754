/** Lists conversations: filters, sort orders, and a preview of each conversation's latest message. */
import { sql } from "kysely";
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
  ofOrganization,
  type RowOf,
  readPage,
  rowsOf,
  withTimeLimit,
} from "../../../../database/query/index.ts";
import { shortenText } from "../../../../texts/cut.ts";
import type { ReadContext } from "../../../foundation/kernel/index.ts";
import { unreadBy, unreadOf, windowMs, windowOf } from "../../conversations/index.ts";
import { findLatestNotes, hasMentionOf, hasUnreadMentionOf } from "../../notes.ts";
import { shownMessageStatus } from "../serialize.ts";
import { messageText } from "./text.ts";

type Input = z.output<typeof contract.list_conversations.input>;

/** Characters of a preview; list_messages and list_notes return the whole text. */
const previewLength = 120;

export async function listConversations(input: Input, context: ReadContext) {
  return isDeepPage(input)
    ? withTimeLimit(context.world.database, (db) => readConversations(input, { ...context, db }))
    : readConversations(input, context);
}

async function readConversations(input: Input, context: ReadContext) {
  const { db, organization, now } = context;
  const reader = context.caller.user?.id;
  const listed = orders[input.sort](selectListed(input, context));
  const { rows, meta } = await readPage(
    listed
      .selectAll()
      .$if(reader !== undefined, (query) =>
        query.select(unreadBy({ organization, reader: reader ?? "" }).as("is_unread_by_me")),
      ),
    input,
  );
  const conversation_ids = rows.map(({ id }) => id);
  const [details, notes] = await Promise.all([
    readDetails(db, organization, conversation_ids),
    findLatestNotes(db, { organization, conversation_ids }),
  ]);
  const data = rows.flatMap((row) => {
    const found = details.get(row.id);
    const note = notes.get(row.id);
    const last_note = note ? { ...note, text: shortenText(note.text, previewLength) } : null;
    return found
      ? [
          {
            ...row,
            ...found,
            ...unreadOf(row),
            last_message: previewOf(found),
            last_note,
            ...windowOf(row, now),
          },
        ]
      : [];
  });
  return { data, meta };
}

type ConversationQuery = ReturnType<typeof selectConversations>;

function selectConversations({ db, organization }: ReadContext) {
  return ofOrganization(db, organization).selectFrom("conversations").where("erased_at", "is", null);
}

/** The inputs that are named as the columns that they are compared with. */
const equalityFilters = ["inbox_id", "contact_id", "team_id", "assigned_to", "status"] as const;

/** The conversations that meet every filter of the input. */
function selectListed({ filter, tag, ...input }: Input, context: ReadContext): ConversationQuery {
  let query = selectConversations(context);
  for (const column of equalityFilters) {
    const value = input[column];
    if (value !== undefined) {
      query = query.where(column, "=", value);
    }
  }
  if (tag !== undefined) {
    query = query.where(sql<boolean>`tags @> array[${tag}]::text[]`);
  }
  return filter ? filters[filter](query, context) : query;
}

type Filter = (typeof conversationFilters)[number];

const filters: Readonly<
  Record<Filter, (query: ConversationQuery, context: ReadContext) => ConversationQuery>
> = {
  assigned_to_me: (query, context) =>
    query.where("assigned_to", "=", requireUserId(context, "assigned_to_me")),
  unassigned: (query) => query.where("assigned_to", "is", null),
  assigned_to_others: (query, context) =>
    query.where("assigned_to", "!=", requireUserId(context, "assigned_to_others")),
  mine_or_unassigned: (query, context) => {
    const user_id = requireUserId(context, "mine_or_unassigned");
    return query.where((row) => row.or([row("assigned_to", "=", user_id), row("assigned_to", "is", null)]));
  },
  // The same expressions as in the partial indexes; the planner uses these for no other.
  favorite: (query) => query.where(sql<boolean>`is_favorite`),
  unread: (query) => query.where(sql<boolean>`is_unread`),
  unread_by_me: (query, context) =>
    query
      .where("status", "not in", ["closed", "spam"])
      .where(
        unreadBy({ organization: context.organization, reader: requireUserId(context, "unread_by_me") }),
      ),
  mentions_me: (query, context) =>
    query.where(hasMentionOf(context.organization, requireUserId(context, "mentions_me"))),
  unread_mentions: (query, context) =>
    query.where(hasUnreadMentionOf(context.organization, requireUserId(context, "unread_mentions"))),
  unanswered: (query) => query.where("waiting_since", "is not", null),
  expired_window: (query, { now }) =>
    query.where("last_user_message_at", "<=", new Date(now.getTime() - windowMs).toISOString()),
};

/** @throws Failure `needs_user`. */
function requireUserId({ caller }: ReadContext, filter: Filter): string {
  if (!caller.user) {
    throw fail("needs_user", { value: filter, param: "filter" });
  }
  return caller.user.id;
}

type Order = (typeof conversationOrders)[number];

const orders: Readonly<Record<Order, (query: ConversationQuery) => ConversationQuery>> = {
  latest: (query) =>
    query.orderBy("last_message_at", (order) => order.desc().nullsLast()).orderBy("conversations.id", "desc"),
  waiting: (query) => query.orderBy("waiting_since", (order) => order.asc().nullsLast()).orderBy("id"),
};

/** The columns of the latest message are null without one. */
const detailColumns = {
  ...columnsOf("conversations", "id"),
  contact_name: columnOf("contacts", "name"),
  ...columnsOf("contacts", "phone_number"),
  ...columnsOf("inboxes", "platform"),
  assigned_to_name: nullable(columnOf("users", "name")),
  direction: nullable(columnOf("messages", "direction")),
  type: nullable(columnOf("messages", "type")),
  message_status: nullable(columnOf("messages", "status")),
  text: nullable("text"),
  sent_by: nullable(columnOf("messages", "sent_by")),
};

type Details = RowOf<typeof detailColumns>;

/**
 * Contact, platform and latest message of conversations, by id. Read for one page only, so that
 * deep pages cost no more.
 */
async function readDetails(
  db: Queries,
  organization: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Details>> {
  const { rows } = await rowsOf(detailColumns)`
    select conversations.id, contacts.name as contact_name, contacts.phone_number, inboxes.platform,
      users.name as assigned_to_name,
      latest.direction, latest.type, latest.status as message_status, latest.text, latest.sent_by
    from conversations
    join contacts using (organization_id)
    join inboxes using (organization_id)
    left join users on users.organization_id = conversations.organization_id and users.id = conversations.assigned_to
    left join lateral (
      select direction, type, status, sent_by,
        ${messageText} as text
      from messages
      where organization_id = conversations.organization_id and conversation_id = conversations.id
      order by id desc limit 1
    ) as latest on true
    where conversations.organization_id = ${organization} and conversations.id = any(${ids}::text[])
      and contacts.id = conversations.contact_id and inboxes.id = conversations.inbox_id
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

function previewOf({ direction, type, message_status, text, sent_by }: Details) {
  return direction && type && message_status
    ? {
        direction,
        type,
        text: text && shortenText(text, previewLength),
        status: shownMessageStatus(message_status),
        sent_by,
      }
    : null;
}
