/** Internal notes of conversations. A table of their own: nothing that sends a message reads it. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table conversation_notes (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    conversation_id text collate "C" not null,
    text text not null,
    -- Who wrote it, with the name of that time.
    author jsonb not null,
    created_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, conversation_id) references conversations (organization_id, id)
  )`,
  "create index conversation_notes_conversation on conversation_notes (organization_id, conversation_id, id)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
