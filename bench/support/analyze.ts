/**
 * Updates the planner's statistics after a benchmark has filled its tables, as autovacuum does within
 * minutes.
 */
import { sql } from "kysely";
import type { Queries } from "../../src/database/database.ts";

export async function analyze(queries: Queries): Promise<void> {
  await sql`analyze`.execute(queries);
}
