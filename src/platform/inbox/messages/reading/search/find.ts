/** Finds the conversations with a match, the one with the newest match first. */
import { type RawBuilder, sql } from "kysely";
import type { Queries } from "../../../../../database/database.ts";
import { columnOf, columnsOf, nullable, type RowOf, rowsOf } from "../../../../../database/query/index.ts";
import { messageText } from "../text.ts";
import { findPassage, toTsQuery, type WordQuery } from "./words.ts";

/** Where a page begins. */
export interface SearchPosition {
  /** The newest match of the first page. */
  readonly until: string;
  /** Only conversations whose newest match is older than this message. */
  readonly before: string;
}

export interface Search extends Partial<SearchPosition> {
  readonly organization: string;
  readonly query: WordQuery;
  /** Only matches that are newer than this message. */
  readonly after?: string;
  /** By default both. */
  readonly direction?: "outbound" | "inbound" | undefined;
  readonly limit: number;
}

/**
 * These messages are compared without the index, newest first: enough for a page of a common word, for which
 * the index would yield very many matches.
 */
const newestCompared = 2_000;

/** Limits the time that a very long conversation takes. */
const mostCounted = 1_000;

const columns = {
  ...columnsOf("messages", "id", "conversation_id", "direction", "created_at"),
  text: "text",
  ...columnsOf("conversations", "contact_id", "status"),
  contact_name: columnOf("contacts", "name"),
  phone_number: nullable(columnOf("contacts", "phone_number")),
} as const;

type Match = RowOf<typeof columns> & { readonly passage: string };

/**
 * One match of each conversation, its newest. `next` is the position of the next page; null if there is none.
 */
export async function findMatches(
  db: Queries,
  search: Search,
): Promise<{ readonly matches: readonly Match[]; readonly next: SearchPosition | null }> {
  const newest = await findIn(db, search, newestOf(search));
  const rows = newest.length < search.limit ? await findIn(db, search, allOf(search)) : newest;
  const matches = rows.flatMap((row) => {
    const passage = findPassage(row.text, search.query);
    return passage === undefined ? [] : [{ ...row, passage }];
  });
  const first = rows[0];
  const last = rows[search.limit - 1];
  // A later match, which arrives while the pages are read, does not move its conversation.
  const until = search.until ?? first?.id;
  return { matches, next: last && until !== undefined ? { until, before: last.id } : null };
}

/** How many messages match, by conversation: of its listed match and the messages before it. */
export async function countMatches(
  db: Queries,
  search: Search,
  matches: readonly Pick<Match, "id" | "conversation_id">[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await rowsOf({ conversation_id: "text", count: "integer" })`
    select listed.conversation_id, counted.count
    from unnest(${matches.map(({ conversation_id }) => conversation_id)}::text[], ${matches.map(({ id }) => id)}::text[])
      as listed (conversation_id, id)
    cross join lateral (
      select count(*)::integer as count from (
        select id, direction from messages
        where organization_id = ${search.organization} and conversation_id = listed.conversation_id
          and id <= listed.id
        order by id desc limit ${mostCounted}
      ) as earlier
      join message_words on message_words.organization_id = ${search.organization}
        and message_words.message_id = earlier.id
      where message_words.words @@ ${tsQueryOf(search)} and ${hasDirection(search, sql`earlier`)}
    ) as counted
  `.execute(db);
  return new Map(rows.map(({ conversation_id, count }) => [conversation_id, count]));
}

function newestOf(search: Search) {
  return sql`
    select message_id, words from message_words
    where organization_id = ${search.organization} and ${isInRange(search)}
    order by message_id desc limit ${newestCompared}`;
}

function allOf(search: Search) {
  return sql`
    select message_id, words from message_words
    where organization_id = ${search.organization} and words @@ ${tsQueryOf(search)} and ${isInRange(search)}`;
}

async function findIn(db: Queries, search: Search, candidates: RawBuilder<unknown>) {
  const { organization, limit } = search;
  const { rows } = await rowsOf(columns)`
    with candidate as (${candidates}), matching as materialized (
      select message_id from candidate where words @@ ${tsQueryOf(search)}
    ), latest as (
      select messages.conversation_id, max(messages.id) as id
      from matching
      join messages on messages.organization_id = ${organization} and messages.id = matching.message_id
      join conversations on conversations.organization_id = messages.organization_id
        and conversations.id = messages.conversation_id
      where conversations.erased_at is null and ${hasDirection(search, sql`messages`)}
        and not exists (${matchOfEarlierPage(search)})
      group by messages.conversation_id
      order by id desc limit ${limit}
    )
    select messages.id, messages.conversation_id, messages.direction, messages.created_at,
      coalesce(${messageText}, '') as text, conversations.contact_id, conversations.status,
      contacts.name as contact_name, contacts.phone_number
    from latest
    join messages on messages.organization_id = ${organization} and messages.id = latest.id
    join conversations on conversations.organization_id = ${organization} and conversations.id = latest.conversation_id
    join contacts on contacts.organization_id = ${organization} and contacts.id = conversations.contact_id
    order by messages.id desc
  `.execute(db);
  return rows;
}

function isInRange({ before, after = "" }: Search) {
  const isBefore = before === undefined ? sql`true` : sql`message_id < ${before}`;
  return sql`${isBefore} and message_id > ${after}`;
}

function tsQueryOf({ organization, query }: Search) {
  return sql`${toTsQuery(organization, query)}::tsquery`;
}

/** A match of the same conversation that is not older than `before`: an earlier page has the conversation. */
function matchOfEarlierPage(search: Search) {
  const { until, before } = search;
  if (until === undefined || before === undefined) {
    return sql`select where false`;
  }
  return sql`
    select from messages as shown
    join message_words on message_words.organization_id = shown.organization_id and message_words.message_id = shown.id
    where shown.organization_id = messages.organization_id
      and shown.conversation_id = messages.conversation_id
      and shown.id >= ${before} and shown.id <= ${until} and message_words.words @@ ${tsQueryOf(search)}
      and ${hasDirection(search, sql`shown`)}`;
}

function hasDirection({ direction }: Search, messages: RawBuilder<unknown>) {
  return direction === undefined ? sql`true` : sql`${messages}.direction = ${direction}`;
}
