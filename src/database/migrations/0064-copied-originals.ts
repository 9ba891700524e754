/**
 * What a channel sent of a message of an unknown type is copied to the message.
 *
 * A migration of its own, because it takes long on a large table, and the migration before holds locks that
 * block writes. What processes of the version before insert since that migration, its trigger copies.
 */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`
    update messages set content = messages.content || jsonb_build_object('channel_data', message_originals.original)
      from message_originals
      where messages.organization_id = message_originals.organization_id
        and messages.id = message_originals.message_id and messages.content <> '{}'
  `.execute(database);
}
