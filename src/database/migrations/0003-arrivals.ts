/**
 * Which transaction wrote a message: what tells, of two moments, what was committed between them. An id or a
 * time can't, because what began first may commit last.
 */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  const statement =
    "alter table messages add column transaction_id xid8 not null default pg_current_xact_id()";
  await sql.raw(statement).execute(database);
}
