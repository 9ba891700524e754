/** The records of decisions: why a conversation went to whom it went, and what the next decision has to know. */
import { type Selectable, sql } from "kysely";
import type { routingTriggers } from "../../../tools/routing.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { insertAll } from "../../database/query/index.ts";
import type { Tables } from "../../database/schema/index.ts";
import type { Change } from "../kernel/index.ts";
import type { Decided, Decision } from "./decide.ts";
import type { Thread } from "./policy.ts";

export type Trigger = (typeof routingTriggers)[number];

/** A decision about a conversation, and what it was asked for by. */
export interface Made<Of extends Decision = Decision> {
  readonly thread: Thread;
  readonly trigger: Trigger;
  readonly decision: Of;
}

/** Writes down what was decided for conversations of one organization, and what each agent is owed after it. */
export async function recordDecided(work: Change, organization: string, made: readonly Made<Decided>[]) {
  await insertDecisions(work, made);
  await keepCredits(
    work.tx,
    organization,
    made.map(({ decision }) => decision),
  );
}

/** Writes a decision down that no policy made; that nothing matches is told once, and not again with every message. */
export async function recordDecision(work: Change, made: Made): Promise<void> {
  const { thread, decision } = made;
  if (decision.outcome === "unmatched") {
    const [latest] = await records(work.tx, thread.organization_id, thread.id).limit(1).execute();
    if (latest?.outcome === "unmatched") {
      return;
    }
  }
  await insertDecisions(work, [made]);
}

/** The decisions about a conversation, newest first. */
export async function listDecisions(db: Queries, organization: string, conversation_id: string) {
  const rows = await records(db, organization, conversation_id).execute();
  return rows.map((row) => ({ ...row, ...shown(row) }));
}

async function insertDecisions({ tx, now }: Change, made: readonly Made[]): Promise<void> {
  const rows = made.map(({ thread, trigger, decision }) => {
    const { outcome, explanation, policy_id, policy_name, strategy, team_id, assigned_to } = decision;
    return {
      organization_id: thread.organization_id,
      id: newId("dec", now),
      conversation_id: thread.id,
      ...{ trigger, outcome, explanation, policy_id, policy_name, strategy, team_id, assigned_to },
      candidates: decision.candidates,
      created_at: now.toISOString(),
    };
  });
  await insertAll(tx, "routing_decisions", rows);
}

/** What each is owed after the last choice of each policy that has not been deleted since it was read. */
async function keepCredits(tx: Transaction, organization: string, decisions: readonly Decided[]) {
  const owing = decisions.filter(({ policy_id, credits }) => policy_id !== null && credits.size > 0);
  const credits = new Map(
    owing.flatMap(({ policy_id, credits }) =>
      [...credits].map(([user_id, credit]) => [`${policy_id} ${user_id}`, { policy_id, user_id, credit }]),
    ),
  );
  if (credits.size === 0) {
    return;
  }
  // The policies stay until the commit.
  await sql`
    with kept as (
      select id from routing_policies
      where organization_id = ${organization} and id = any(${owing.map(({ policy_id }) => policy_id)}::text[])
      order by id for key share
    )
    insert into routing_credits (organization_id, policy_id, user_id, credit)
    select ${organization}, policy_id, user_id, credit
    from jsonb_to_recordset(${JSON.stringify([...credits.values()])}::jsonb)
      as owed (policy_id text, user_id text, credit integer)
    where policy_id in (select id from kept)
    on conflict (organization_id, policy_id, user_id) do update set credit = excluded.credit
  `.execute(tx);
}

function records(db: Queries, organization: string, conversation_id: string) {
  return db
    .selectFrom("routing_decisions")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("conversation_id", "=", conversation_id)
    .orderBy("id", "desc");
}

function shown({ candidates }: Selectable<Tables["routing_decisions"]>) {
  // Written by `insertDecisions` from a decision's own.
  return { candidates: candidates as Decision["candidates"] };
}
