/** The latest message of each conversation that was marked as read at the channel. */
import { type Kysely, sql } from "kysely";

const statement = `create table read_marks (
    organization_id text collate "C" not null,
    conversation_id text collate "C" not null,
    message_id text collate "C" not null,
    primary key (organization_id, conversation_id),
    foreign key (organization_id, conversation_id) references conversations (organization_id, id)
  )`;

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql.raw(statement).execute(database);
}
