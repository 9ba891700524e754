/**
 * Stores the words of messages, for the search. A message costs nothing when it is accepted or received: its
 * words are stored by the first search after it, or by a job for organizations that have searched before.
 *
 * All messages from `oldest` to `newest` have their words. First the newer messages are added, without which
 * a search would be wrong, then older ones, as far as the time allows. Each step may be repeated, and several
 * processes may run at once.
 */
import { type RawBuilder, sql } from "kysely";
import { fail } from "../../../../../../tools/errors.ts";
import type { Queries } from "../../../../../database/database.ts";
import { lowestId } from "../../../../../database/id.ts";
import {
  columnsOf,
  ofOrganization,
  onlyRow,
  recordset,
  rowsOf,
} from "../../../../../database/query/index.ts";
import { defineScheduledJob, type World } from "../../../../foundation/kernel/index.ts";
import { messageText } from "../text.ts";
import { searchWordsOf } from "./words.ts";

const batchSize = 1_000;

/** By then every message has committed: transactions last milliseconds, and clocks differ by seconds. */
const settledMs = 60_000;

/** How long a search adds words, and how long the job does for one organization. */
const maxMs = { search: 2_000, job: 10_000 } as const;

interface IndexedRange {
  readonly newest: string;
  /** Null if all older messages have their words too. */
  readonly oldest: string | null;
}

type Environment = Pick<World, "database" | "now">;

interface Indexing {
  readonly db: Queries;
  readonly organization: string;
  /** The id that settled messages sort before. */
  readonly settled: string;
  isOver(): boolean;
}

/**
 * Adds the words of the messages that have none. Returns the oldest message with words, null if all have.
 * @throws Failure `unavailable` if there are more new messages than fit in the time; what was added stays.
 */
export async function indexMessages(environment: Environment, organization: string): Promise<string | null> {
  const { hasNewest, oldest } = await addWords(environment, organization, "search");
  if (!hasNewest) {
    throw fail("unavailable", { reason: "messages are being prepared for the search.", retry_after: 1 });
  }
  return oldest;
}

interface AddedWords {
  /** Whether all newer messages have their words now. */
  readonly hasNewest: boolean;
  /** The oldest message with words; null if all older ones have words. */
  readonly oldest: string | null;
}

async function addWords(
  { database, now }: Environment,
  organization: string,
  use: keyof typeof maxMs,
): Promise<AddedWords> {
  const startedAt = performance.now();
  const indexing: Indexing = {
    db: database.queries,
    organization,
    settled: lowestId("msg", new Date(now().getTime() - settledMs)),
    isOver: () => performance.now() - startedAt > maxMs[use],
  };
  const range = await readRange(indexing);
  const hasNewest = await addNewer(indexing, range);
  return { hasNewest, oldest: await addOlder(indexing, range) };
}

/** Adds words for the organizations that have searched, so that a search has little to add. */
export const indexMessagesJob = defineScheduledJob({
  name: "messages.index_words",
  schedule: "* * * * *",

  async run(world) {
    const rows = await world.database.queries
      .selectFrom("message_searches")
      .select("organization_id")
      .orderBy("organization_id")
      .execute();
    for (const { organization_id } of rows) {
      await addWords(world, organization_id, "job").catch((err: unknown) =>
        world.log.error({ err, organization_id }, "The words of messages could not be stored for the search"),
      );
    }
  },
});

async function readRange({ db, organization, settled }: Indexing): Promise<IndexedRange> {
  await db
    .insertInto("message_searches")
    .values({ organization_id: organization, newest: settled, oldest: settled })
    .onConflict((conflict) => conflict.column("organization_id").doNothing())
    .execute();
  return ofOrganization(db, organization)
    .selectFrom("message_searches")
    .select(["newest", "oldest"])
    .executeTakeFirstOrThrow();
}

/**
 * Returns false if there are more newer messages than fit in the time. What is not settled is looked at again
 * the next time: a message with a smaller id may still commit.
 */
async function addNewer(indexing: Indexing, { newest }: IndexedRange): Promise<boolean> {
  let after = newest;
  for (;;) {
    const last = await addBatch(indexing, sql`id > ${after}`, sql`id`);
    await removeErased(indexing, sql`message_id > ${after}`);
    const reached = last !== undefined && last < indexing.settled ? last : indexing.settled;
    await sql`
      update message_searches set newest = greatest(newest, ${reached}) where organization_id = ${indexing.organization}
    `.execute(indexing.db);
    if (last === undefined) {
      return true;
    }
    after = last;
    if (indexing.isOver()) {
      return false;
    }
  }
}

async function addOlder(indexing: Indexing, range: IndexedRange): Promise<string | null> {
  let { oldest } = range;
  while (oldest !== null && !indexing.isOver()) {
    const before: string = oldest;
    oldest = (await addBatch(indexing, sql`id < ${before}`, sql`id desc`)) ?? null;
    const from = oldest ?? "";
    await removeErased(indexing, sql`message_id >= ${from} and message_id < ${before}`);
    await sql`
      update message_searches set oldest = case when oldest < ${from} then oldest else ${oldest} end
      where organization_id = ${indexing.organization} and oldest is not null
    `.execute(indexing.db);
  }
  return oldest;
}

/** Returns the last id of a full batch; undefined if it was the last one. */
async function addBatch(
  { db, organization }: Indexing,
  isInRange: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): Promise<string | undefined> {
  const { rows } = await rowsOf({ id: "text", text: "text" })`
    select id, ${messageText} as text from messages
    where organization_id = ${organization} and ${isInRange} and ${messageText} is not null
      and not exists (
        select from message_words
        where message_words.organization_id = messages.organization_id and message_words.message_id = messages.id)
    order by ${order} limit ${batchSize}
  `.execute(db);
  const words = rows.map(({ id: message_id, text }) => ({
    message_id,
    words: joinWords(organization, text),
  }));
  await sql`
    insert into message_words (organization_id, message_id, words)
    select ${organization}, added.message_id, array_to_tsvector(string_to_array(added.words, ' '))
    from ${recordset("added", { ...columnsOf("message_words", "message_id"), words: "text" }, words)}
    on conflict do nothing
  `.execute(db);
  return rows.length < batchSize ? undefined : rows.at(-1)?.id;
}

/**
 * Removes what was added while a contact was erased. If the contact is erased after this statement, the
 * erasure finds the words.
 */
async function removeErased({ db, organization }: Indexing, isInRange: RawBuilder<unknown>): Promise<void> {
  await sql`
    delete from message_words
    where organization_id = ${organization} and ${isInRange} and exists (
      select from messages
      join conversations on conversations.organization_id = messages.organization_id
        and conversations.id = messages.conversation_id
      where messages.organization_id = message_words.organization_id and messages.id = message_words.message_id
        and conversations.erased_at is not null)
  `.execute(db);
}

/**
 * Replaces the words of a message whose text has changed. Also stored if the message has none yet, so that
 * the words of the former text are not stored afterwards.
 */
export async function replaceWords(
  db: Queries,
  { organization_id, id }: { readonly organization_id: string; readonly id: string },
): Promise<void> {
  const { rows } = await rowsOf({ text: "text" })`
    select coalesce(${messageText}, '') as text from messages where organization_id = ${organization_id} and id = ${id}
  `.execute(db);
  const words = joinWords(organization_id, onlyRow(rows).text);
  await sql`
    insert into message_words (organization_id, message_id, words)
    values (${organization_id}, ${id}, array_to_tsvector(string_to_array(${words}, ' ')))
    on conflict (organization_id, message_id) do update set words = excluded.words
  `.execute(db);
}

function joinWords(organization: string, text: string): string {
  return [organization, ...searchWordsOf(text)].join(" ");
}
