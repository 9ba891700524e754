/** Which pending conversations the contact's answer opens, and the times in which an agent is away. */
import { type Kysely, sql } from "kysely";

const statements = [
  // Only true for a pending conversation: the contact's next message opens it, unless a flow or the bot takes
  // that message.
  `alter table conversations add column opens_on_answer boolean not null default false`,
  // Pending conversations that a flow or a broadcast began. The other pending conversations were set by a
  // user or a key.
  `update conversations set opens_on_answer = true
   where status = 'pending' and (last_user_message_at is null or exists (
     select from (
       select direction, broadcast_id, sent_by from messages
       where messages.organization_id = conversations.organization_id and conversation_id = conversations.id
       order by messages.id limit 1
     ) as first
     where direction = 'outbound' and (broadcast_id is not null or sent_by ->> 'type' = 'flow')
   ))`,

  // The member is unavailable from the first time until the second time; null if there is no beginning or no
  // end.
  `alter table team_members add column unavailable_from timestamptz`,
  `alter table team_members add column unavailable_until timestamptz`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
