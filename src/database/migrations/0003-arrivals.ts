/**
 * The transaction that wrote a message, which shows what was committed between two reads. Ids and times can't
 * show this, because the transaction that began first may commit last.
 */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  const statement =
    "alter table messages add column transaction_id xid8 not null default pg_current_xact_id()";
  await sql.raw(statement).execute(database);
}
