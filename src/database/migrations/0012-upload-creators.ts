/**
 * The credential that uploaded a file. Null if the file was uploaded before this migration, or by a process
 * of an older version.
 */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`alter table uploads add column credential_id text collate "C"`.execute(database);
}
