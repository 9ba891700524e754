/**
 * What a channel sent of a message besides its content is kept with the message, not for a week. The ads by
 * which a contact came are kept with the conversation, and the latest notice of the channel with the inbox.
 *
 * Processes of the version before still insert and read message_originals during a deployment. A later
 * version drops the table.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `create function move_message_original() returns trigger language plpgsql as $$
  begin
    update messages set content = content || jsonb_build_object('channel_data', new.original)
      where organization_id = new.organization_id and id = new.message_id and content <> '{}';
    return new;
  end
  $$`,
  `create trigger message_originals_move before insert on message_originals
    for each row execute function move_message_original()`,
  // {"first": …, "latest": …}
  "alter table conversations add column referrals jsonb",
  "alter table inboxes add column alert jsonb",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
