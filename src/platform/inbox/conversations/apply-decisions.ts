/** Applies routing decisions: assigns or queues the conversations, and schedules the retry of queued ones. */
import { z } from "zod";
import { type NewJob, newJob } from "../../../jobs/job.ts";
import { type Change, defineJob } from "../../foundation/kernel/index.ts";
import {
  activePolicies,
  type DecisionRecord,
  decide,
  type PolicyDecision,
  policyForQueued,
  recordAssignments,
  recordPolicyDecisions,
} from "../routing/index.ts";
import { changeConversations, requireUpdated } from "./change.ts";
import { type ConversationRow, withConversation } from "./find/index.ts";

/**
 * Decides again about a queued conversation when time may change the decision: one more tier, relaxed skills.
 */
export const escalateJob = defineJob({
  name: "conversation.escalate",
  payload: z.object({ organization_id: z.string(), conversation_id: z.string(), queued_at: z.string() }),

  async run(payload, world) {
    await withConversation(world, payload, async (change, conversation) => {
      const { tx, now } = change;
      // A conversation that was queued again since has a job of its own.
      if (conversation.queued_at !== payload.queued_at) {
        return;
      }
      const policies = await activePolicies(tx, conversation.organization_id);
      const policy = await policyForQueued({ db: tx, world }, { conversation, policies, now });
      if (policy) {
        const decision = await decide(tx, { conversation, policy }, { now, locks: true });
        await applyDecisions(change, [{ conversation, trigger: "escalation", decision }]);
      }
    });
    return undefined;
  },
});

/** A decision of a policy, with the whole row of its conversation. */
export interface ApplicableDecision extends DecisionRecord<PolicyDecision> {
  readonly conversation: ConversationRow;
}

/**
 * Applies and records decisions about conversations of one organization; returns the new
 * rows in the same order.
 */
export async function applyDecisions(
  change: Change,
  records: readonly ApplicableDecision[],
): Promise<ConversationRow[]> {
  const [first] = records;
  if (!first) {
    return [];
  }
  await recordPolicyDecisions(change, first.conversation.organization_id, records);
  const updated = await changeConversations(
    change,
    records.map(({ conversation, decision: { assigned_to, team_id, policy_id, turn } }) => {
      const queued_at = conversation.queued_at ?? change.now.toISOString();
      return { conversation, fields: { assigned_to, team_id, policy_id, queued_at }, turn };
    }),
  );
  const results = records.map((record) => ({
    ...record,
    conversation: requireUpdated(updated, record.conversation),
  }));
  await change.tx.enqueue(results.flatMap(createEscalationJobs));
  // An assignment to a team by hand is recorded by the caller, with the user who made it.
  const assigned = results.filter(
    ({ trigger, decision }) => decision.assigned_to !== null && trigger !== "assign",
  );
  await recordAssignments(
    change,
    assigned.map(({ conversation, decision: { explanation } }) => ({
      conversation,
      details: { assignment_type: "routing", reason: explanation },
    })),
  );
  return results.map(({ conversation }) => conversation);
}

function createEscalationJobs({
  conversation,
  decision: { retryAt },
}: DecisionRecord<PolicyDecision>): NewJob[] {
  const { organization_id, id: conversation_id, queued_at } = conversation;
  if (queued_at === null || !retryAt) {
    return [];
  }
  const payload = { organization_id, conversation_id, queued_at };
  return [newJob(escalateJob, payload, { runAt: retryAt })];
}
