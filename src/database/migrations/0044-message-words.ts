/**
 * The words of messages, for their search, and how many messages of a conversation are unread. A table of
 * its own: an index on the messages would be written with each message, and again when it is sent.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  // Without a foreign key, which would lock the message. Messages are never deleted.
  `create table message_words (
    organization_id text collate "C" not null,
    message_id text collate "C" not null,
    -- With the id of the organization as a word, so that the index finds only rows of one organization.
    words tsvector not null,
    primary key (organization_id, message_id)
  )`,
  "create index message_words_words on message_words using gin (words)",
  // Which messages of an organization have words: all from `oldest` to `newest`. Null: and all older ones.
  `create table message_searches (
    organization_id text collate "C" not null primary key references organizations (id),
    newest text collate "C" not null,
    oldest text collate "C"
  )`,
  // Counts only while the conversation is unread: the next message of a read one begins with 1.
  "alter table conversations add column unread_count integer not null default 1",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
