/** Counts the processes that use a database, for a program that is none of them. */
import type { Queries } from "../../database/database.ts";
import { rowsOf } from "../../database/query/index.ts";

/** The processes with a heartbeat in the last 10 seconds: each writes one a second. */
export async function countProcesses(queries: Queries): Promise<number> {
  const { rows } = await rowsOf({ count: "integer" })`
    select count(*)::integer as count from processes
    where written_at > clock_timestamp() - interval '10 seconds'
  `.execute(queries);
  return rows[0]?.count ?? 0;
}
