/** Updates the planner's statistics after a bench has filled its tables; a server's autovacuum would do so within minutes. */
import { sql } from "kysely";
import type { Queries } from "../../src/database/database.ts";

export async function analyze(queries: Queries): Promise<void> {
  await sql`analyze`.execute(queries);
}
