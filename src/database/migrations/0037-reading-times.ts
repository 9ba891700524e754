/**
 * For how long an organization's documents were read in the current hour: reading occupies a processor that
 * other work needs.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  // When the hour began; null if no document has been read yet.
  `alter table knowledge_bases add column reading_since timestamptz`,
  `alter table knowledge_bases add column reading_ms integer not null default 0`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
