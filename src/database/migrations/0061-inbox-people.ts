/** What each person has read, whom a note mentions, and who looks at a conversation now. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table conversation_reads (
    organization_id text collate "C" not null,
    user_id text collate "C" not null,
    conversation_id text collate "C" not null,
    -- What the contact wrote later is unread.
    read_at timestamptz not null,
    primary key (organization_id, user_id, conversation_id),
    foreign key (organization_id, user_id) references users (organization_id, id),
    foreign key (organization_id, conversation_id) references conversations (organization_id, id) on delete cascade
  )`,
  "alter table conversation_notes add column mentions text[] not null default '{}'",
  "create index conversation_notes_mentions on conversation_notes using gin (mentions) where mentions <> '{}'",
  // The page that a person has used last: of one conversation, and of one tab.
  `create table presences (
    organization_id text collate "C" not null,
    user_id text collate "C" not null,
    conversation_id text collate "C" not null,
    is_writing boolean not null,
    expires_at timestamptz not null,
    primary key (organization_id, user_id),
    foreign key (organization_id, user_id) references users (organization_id, id)
  )`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
