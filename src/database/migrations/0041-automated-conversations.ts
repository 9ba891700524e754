/**
 * Whether a flow or the bot may have a conversation: only then a message of a person has to end their part.
 * Triggers set the column, because during a deployment the previous version still starts flows and the bot;
 * the message of a person clears it. For an older conversation the value is not known, so the first message
 * checks the conversation.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  "alter table conversations add column may_be_automated boolean not null default true",
  "alter table conversations alter column may_be_automated set default false",
  // All code that starts a flow or the bot locks the conversation.
  `create function mark_automated_conversation() returns trigger language plpgsql as $$
  begin
    update conversations set may_be_automated = true
    where organization_id = new.organization_id and id = new.conversation_id and not may_be_automated;
    return null;
  end $$`,
  `create trigger flow_runs_mark_conversation after insert on flow_runs
    for each row when (new.status in ('running', 'waiting')) execute function mark_automated_conversation()`,
  `create trigger chatbot_conversations_mark_conversation after insert or update of state on chatbot_conversations
    for each row when (new.state = 'active') execute function mark_automated_conversation()`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
