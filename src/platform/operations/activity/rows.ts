/** Finds the rows of the record, and shows them as the contract does. */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { z } from "zod";
import type { Act, actFilters } from "../../../../tools/activity.ts";
import type { ReachedBudget } from "../../../../tools/budgets.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";

export type ActRow = Selectable<Tables["acts"]>;

export type ActFilter = z.output<typeof actFilters>;

interface ActPage {
  /** The id of the last act of the previous page. */
  readonly after?: string | undefined;
  readonly per_page: number;
}

/** The acts of the organization that match, the newest first. */
export function selectActs(db: Queries, organization: string, filter: ActFilter) {
  const { by, session_id, operation, contact_id, outcome, since, until } = filter;
  return ofOrganization(db, organization)
    .selectFrom("acts")
    .selectAll()
    .$if(by !== undefined, (rows) => rows.where("agent_id", "=", by ?? ""))
    .$if(session_id !== undefined, (rows) => rows.where("session_id", "=", session_id ?? ""))
    .$if(operation !== undefined, (rows) => rows.where("operation", "=", operation ?? ""))
    .$if(contact_id !== undefined, (rows) => rows.where(namesAny([contact_id ?? ""])))
    .$if(outcome !== undefined, (rows) => rows.where(outcomes[outcome ?? "done"]))
    .$if(since !== undefined, (rows) => rows.where("created_at", ">=", since ?? ""))
    .$if(until !== undefined, (rows) => rows.where("created_at", "<", until ?? ""))
    .orderBy("id", "desc");
}

type Outcome = NonNullable<ActFilter["outcome"]>;

/** An act that waits has the code of the failure, and a status of success. */
const outcomes: Readonly<Record<Outcome, RawBuilder<boolean>>> = {
  done: sql`(status < 400 and error is null)`,
  waiting: sql`(status < 400 and error is not null)`,
  refused: sql`(status >= 400)`,
};

function outcomeOf({ status, error }: Pick<ActRow, "status" | "error">): Outcome {
  return status >= 400 ? "refused" : error === null ? "done" : "waiting";
}

/** The acts of the operator, in all organizations and in none, the newest first. */
export function selectOperatorActs(db: Queries) {
  return db
    .selectFrom("acts")
    .selectAll()
    .where("agent_type", "=", sql.lit("operator"))
    .orderBy("id", "desc");
}

/** Whether the act names one of these records. An index finds them. */
export function namesAny(ids: readonly string[]) {
  return sql<boolean>`ids && ${ids}::text[]`;
}

export async function readActs(
  query: SelectQueryBuilder<Tables, "acts", ActRow>,
  { after, per_page }: ActPage,
) {
  const rows = await query
    .$if(after !== undefined, (acts) => acts.where("id", "<", after ?? ""))
    // One more, by which the next page is known.
    .limit(per_page + 1)
    .execute();
  const acts = rows.slice(0, per_page);
  const cursor = rows.length > per_page ? (acts.at(-1)?.id ?? null) : null;
  return { data: acts.map(serializeAct), meta: { cursor } };
}

export function serializeAct({
  agent_type,
  agent_id,
  agent_name,
  error,
  budget,
  ...row
}: ActRow): z.input<typeof Act> {
  return {
    ...row,
    by: { type: agent_type, id: agent_id, name: agent_name },
    outcome: outcomeOf({ ...row, error }),
    error_code: error,
    // Only failures of budgets have one.
    budget: budget as ReachedBudget | null,
  };
}
