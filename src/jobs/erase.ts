/** Deletes jobs with personal data of erased records. */
import { sql } from "kysely";
import type { DatabaseTransaction } from "../database/database.ts";

/** Deletes waiting and dead jobs by their subject, except waiting jobs of the kept names. */
export async function eraseJobs(
  tx: DatabaseTransaction,
  subjects: readonly string[],
  keptNames: readonly string[],
): Promise<void> {
  await sql`
    delete from jobs where subject = any(${subjects}::text[]) and name <> all(${keptNames}::text[])
  `.execute(tx);
  await sql`delete from dead_jobs where subject = any(${subjects}::text[])`.execute(tx);
}
