/** The rows of the record: acts are inserted, reads are counted. */
import { sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { columnsOf, recordset } from "../../../database/query/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import type { ActRow } from "./rows.ts";

type AddedAct = Parameters<World["acts"]["add"]>[0];

const actColumns = columnsOf(
  "acts",
  "organization_id",
  "id",
  "created_at",
  "agent_type",
  "agent_id",
  "agent_name",
  "session_id",
  "operation",
  "tool",
  "arguments",
  "status",
  "error",
  "duration_ms",
  "ids",
  "budget",
);

/** Inserts the acts of any organizations with one statement. */
export async function insertActs(db: Queries, acts: readonly AddedAct[]): Promise<void> {
  // The kernel has reduced the input, which is an object.
  const rows = acts.map((act) => ({
    ...act,
    arguments: act.arguments as ActRow["arguments"],
    // A fact of a failure.
    budget: act.budget as ActRow["budget"],
  }));
  await sql`
    insert into acts (organization_id, id, created_at, agent_type, agent_id, agent_name, session_id, operation, tool,
      arguments, status, error, duration_ms, ids, budget)
    select organization_id, id, created_at, agent_type, agent_id, agent_name, session_id, operation, tool,
      arguments, status, error, duration_ms, ids, budget
    from ${recordset("act", actColumns, rows)}
  `.execute(db);
}

const readColumns = columnsOf(
  "read_counts",
  "organization_id",
  "minute",
  "agent_type",
  "agent_id",
  "agent_name",
  "operation",
  "count",
);

type CountedRead = Parameters<typeof recordset<typeof readColumns>>[2][number];

export async function addReads(db: Queries, reads: readonly CountedRead[]): Promise<void> {
  await sql`
    insert into read_counts (organization_id, minute, agent_type, agent_id, agent_name, operation, count)
    select organization_id, minute, agent_type, agent_id, agent_name, operation, count
    from ${recordset("read", readColumns, reads)}
    order by organization_id, minute, agent_id, operation
    on conflict (organization_id, minute, agent_id, operation) do update
    set count = read_counts.count + excluded.count
  `.execute(db);
}
