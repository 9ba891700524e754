/** The records of decisions: why a conversation went to whom it went. */
import type { Selectable } from "kysely";
import type { routingTriggers } from "../../../tools/routing.ts";
import type { Queries } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import type { Tables } from "../../database/schema.ts";
import type { Work } from "../core/capacity.ts";
import type { Decision } from "./decide.ts";
import type { Thread } from "./policy.ts";

export type Trigger = (typeof routingTriggers)[number];

/** Writes a decision down; that nothing matches is told once, and not again with every message. */
export async function recordDecision(
  { tx, now }: Work,
  thread: Thread,
  { trigger, decision }: { trigger: Trigger; decision: Decision },
): Promise<void> {
  const { outcome, explanation, policy_id, policy_name, strategy, team_id, assigned_to } = decision;
  if (outcome === "unmatched") {
    const [latest] = await records(tx, thread.organization_id, thread.id).limit(1).execute();
    if (latest?.outcome === "unmatched") {
      return;
    }
  }
  await tx
    .insertInto("routing_decisions")
    .values({
      organization_id: thread.organization_id,
      id: newId("dec", now),
      conversation_id: thread.id,
      ...{ trigger, outcome, explanation, policy_id, policy_name, strategy, team_id, assigned_to },
      candidates: JSON.stringify(decision.candidates),
      created_at: now.toISOString(),
    })
    .execute();
}

/** The decisions about a conversation, newest first. */
export async function listDecisions(db: Queries, organization: string, conversation_id: string) {
  const rows = await records(db, organization, conversation_id).execute();
  return rows.map((row) => ({ ...row, ...shown(row) }));
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
  // Written by `recordDecision` from a decision's own.
  return { candidates: candidates as Decision["candidates"] };
}
