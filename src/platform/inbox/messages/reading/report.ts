/** Reads what needs attention in all inboxes of an organization. A row has few members, none of them null. */
import { type RawBuilder, sql } from "kysely";
import type { z } from "zod";
import { failField } from "../../../../../tools/errors.ts";
import { type messages as contract, maxReported } from "../../../../../tools/messages/index.ts";
import type { Queries } from "../../../../database/database.ts";
import { lowestId } from "../../../../database/id.ts";
import {
  columnOf,
  columnsOf,
  nullable,
  onlyRow,
  rowsOf,
  withTimeLimit,
} from "../../../../database/query/index.ts";
import type { ReadContext } from "../../../foundation/kernel/index.ts";
import { findMatches, indexMessages, searchWordsOf } from "./search/index.ts";
import { messageText } from "./text.ts";

type Input = z.output<typeof contract.get_inbox_report.input>;

const dayMs = 24 * 3_600_000;
const maxDays = 7;

/** Characters of a text; get_conversation_context has the whole one. */
const textLength = 80;

export async function readInboxReport({ since, urgent_words }: Input, context: ReadContext) {
  const { world, organization, now } = context;
  const start = since === undefined ? new Date(now.getTime() - dayMs) : new Date(since);
  if (now.getTime() - start.getTime() > maxDays * dayMs) {
    throw failField("since", "since_too_early", { limit: maxDays });
  }
  await indexMessages(world, organization);
  return withTimeLimit(world.database, async (db) => {
    const failures = await readFailures(db, organization, start);
    const counts = await countConversations(db, organization);
    return {
      at: now.toISOString(),
      since: start.toISOString(),
      counts: { ...counts, failed: failures.count },
      waiting: await readConversations(db, organization, longestWaiting),
      unread: await readConversations(db, organization, latestUnread),
      failed: failures.messages,
      urgent: await findUrgent(db, { organization, words: searchWordsOf(urgent_words), start }),
      ads: await readAds(db, organization, start),
    };
  });
}

const countColumns = {
  open: "integer",
  pending: "integer",
  unassigned: "integer",
  unread: "integer",
  waiting: "integer",
} as const;

async function countConversations(db: Queries, organization: string) {
  const { rows } = await rowsOf(countColumns)`
    select count(*) filter (where status = 'open')::integer as open,
      count(*) filter (where status = 'pending')::integer as pending,
      count(*) filter (where status = 'open' and assigned_to is null)::integer as unassigned,
      count(*) filter (where is_unread)::integer as unread,
      count(*) filter (where waiting_since is not null)::integer as waiting
    from conversations
    where organization_id = ${organization} and erased_at is null
  `.execute(db);
  return onlyRow(rows);
}

// The same expressions as in the partial indexes.
const longestWaiting = { condition: sql`waiting_since is not null`, order: sql`waiting_since, id` };
const latestUnread = { condition: sql`is_unread`, order: sql`last_message_at desc nulls last, id desc` };

const conversationColumns = {
  conversation_id: columnOf("conversations", "id"),
  ...columnsOf("conversations", "waiting_since", "is_unread", "unread_count"),
  contact_name: columnOf("contacts", "name"),
  assigned_to_name: nullable(columnOf("users", "name")),
  text: nullable("text"),
} as const;

async function readConversations(
  db: Queries,
  organization: string,
  { condition, order }: { readonly condition: RawBuilder<unknown>; readonly order: RawBuilder<unknown> },
) {
  const { rows } = await rowsOf(conversationColumns)`
    with listed as materialized (
      select *, row_number() over (order by ${order}) as place from conversations
      where organization_id = ${organization} and erased_at is null and ${condition}
      order by ${order} limit ${maxReported}
    )
    select listed.id as conversation_id, listed.waiting_since, listed.is_unread, listed.unread_count,
      contacts.name as contact_name, users.name as assigned_to_name, latest.text
    from listed
    join contacts on contacts.organization_id = ${organization} and contacts.id = listed.contact_id
    left join users on users.organization_id = ${organization} and users.id = listed.assigned_to
    left join lateral (
      select left(${messageText}, ${textLength}::integer) as text from messages
      -- What the contact wrote, and not what was sent meanwhile, such as a broadcast.
      where organization_id = ${organization} and conversation_id = listed.id and direction = 'inbound'
      order by id desc limit 1
    ) as latest on true
    order by listed.place
  `.execute(db);
  return rows.map(({ is_unread, unread_count, ...row }) =>
    withoutNulls({ ...row, unread_count: is_unread ? unread_count : null }),
  );
}

const failureColumns = {
  message_id: columnOf("messages", "id"),
  ...columnsOf("messages", "conversation_id", "error"),
  failed_at: columnOf("messages", "failed_at"),
  contact_name: columnOf("contacts", "name"),
  broadcast_id: columnOf("messages", "broadcast_id"),
  text: nullable("text"),
  count: "integer",
} as const;

/** A message that was accepted longer before may have failed too, but is not looked for. */
const maxDeliveryMs = 2 * dayMs;

async function readFailures(db: Queries, organization: string, start: Date) {
  const from = lowestId("msg", new Date(start.getTime() - maxDeliveryMs));
  const { rows } = await rowsOf(failureColumns)`
    select messages.id as message_id, messages.conversation_id, messages.error, messages.failed_at,
      contacts.name as contact_name, messages.broadcast_id, left(${messageText}, ${textLength}::integer) as text,
      count(*) over ()::integer as count
    from messages
    join conversations on conversations.organization_id = messages.organization_id
      and conversations.id = messages.conversation_id
    join contacts on contacts.organization_id = messages.organization_id and contacts.id = conversations.contact_id
    where messages.organization_id = ${organization} and messages.id > ${from} and messages.status = 'failed'
      and messages.failed_at >= ${start.toISOString()}::timestamptz and conversations.erased_at is null
    order by messages.id desc limit ${maxReported}
  `.execute(db);
  const messages = rows.map(({ count: _, error, failed_at, ...row }) => ({
    ...withoutNulls(row),
    code: error?.code ?? "unknown",
    failed_at: failed_at ?? start.toISOString(),
  }));
  return { count: rows[0]?.count ?? 0, messages };
}

interface UrgentSearch {
  readonly organization: string;
  readonly words: readonly string[];
  readonly start: Date;
}

async function findUrgent(db: Queries, { organization, words, start }: UrgentSearch) {
  if (words.length === 0) {
    return [];
  }
  const { matches } = await findMatches(db, {
    organization,
    query: { words, combination: "any" },
    after: lowestId("msg", start),
    direction: "inbound",
    limit: maxReported,
  });
  return matches.map(({ id: message_id, conversation_id, contact_name, passage: text, created_at }) => ({
    ...withoutNulls({ contact_name }),
    conversation_id,
    message_id,
    text,
    created_at,
  }));
}

const adColumns = {
  source_id: "text",
  source_type: nullable("text"),
  headline: nullable("text"),
  conversation_count: "integer",
} as const;

/** Counts the conversations whose latest ad was clicked since the start. */
async function readAds(db: Queries, organization: string, start: Date) {
  const { rows } = await rowsOf(adColumns)`
    select latest ->> 'source_id' as source_id, max(latest ->> 'source_type') as source_type,
      (array_agg(latest ->> 'headline' order by latest ->> 'at' desc))[1] as headline,
      count(*)::integer as conversation_count
    from conversations, lateral (select referrals -> 'latest' as latest) as referral
    where organization_id = ${organization} and erased_at is null and referrals is not null
      and latest ->> 'source_id' is not null and (latest ->> 'at')::timestamptz >= ${start.toISOString()}::timestamptz
    group by 1
    order by conversation_count desc, source_id
    limit ${maxReported}
  `.execute(db);
  return rows.map(withoutNulls);
}

type WithoutNulls<Row> = {
  [Name in keyof Row]: Exclude<Row[Name], null> | (null extends Row[Name] ? undefined : never);
};

function withoutNulls<Row extends object>(row: Row): WithoutNulls<Row> {
  // Only members whose type includes null are missing.
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as WithoutNulls<Row>;
}
