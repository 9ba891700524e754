/** Finds the few entries of the ledger that charge answers of the chatbot: some of them have a message. */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`
    create index ledger_entries_usage on ledger_entries (organization_id, id) where type = 'usage'
  `.execute(database);
}
