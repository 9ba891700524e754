/**
 * Sweeps the queues every minute: requeues unanswered conversations of absent agents, and serves every queue,
 * because some changes that free an agent enqueue no run.
 */
import { columnOf, columnsOf, recordset, rowsOf } from "../../../../database/query/index.ts";
import { type Change, defineScheduledJob, type World } from "../../../foundation/kernel/index.ts";
import { activePolicies, decide, policyForQueued, recordAssignment } from "../../routing/index.ts";
import { findAbsentAgents } from "../../teams/index.ts";
import { applyDecisions } from "../apply-decisions.ts";
import { changeConversation } from "../change.ts";
import { type ConversationRow, withConversation } from "../find/index.ts";
import { createServeQueueJob } from "./serve.ts";

const absentColumns = {
  ...columnsOf("team_members", "organization_id", "team_id", "user_id"),
  since: "timestamptz",
} as const;

/** How many conversations of absent agents one sweep requeues. */
const maxPerSweep = 200;

export const sweepQueueJob = defineScheduledJob({
  name: "queue.sweep",
  schedule: "* * * * *",

  async run(world) {
    const now = world.now();
    const absent = await findAbsentAgents(world.database.queries, now);
    const { rows } = await rowsOf({
      ...columnsOf("conversations", "organization_id", "team_id", "assigned_to"),
      conversation_id: columnOf("conversations", "id"),
    })`
      select conversations.organization_id, conversations.team_id, assigned_to, conversations.id as conversation_id
      from ${recordset("absent", absentColumns, absent)}
      join conversations on conversations.organization_id = absent.organization_id
        and conversations.assigned_to = absent.user_id and conversations.team_id = absent.team_id
      join routing_policies on routing_policies.organization_id = conversations.organization_id
        and routing_policies.id = conversations.policy_id
      join organizations on organizations.id = conversations.organization_id and suspended_at is null
      where conversations.erased_at is null and conversations.status = 'open' and conversations.waiting_since is not null
        and absent.since <= ${now.toISOString()}::timestamptz
          - make_interval(secs => (routing_policies.settings ->> 'requeue_after_seconds')::int)
      limit ${maxPerSweep}
    `.execute(world.database.queries);
    for (const found of rows) {
      // A failure is logged so that it does not stop the sweep; the next sweep tries the conversation again.
      await withConversation(world, found, (change, conversation) =>
        requeue(change, conversation, found),
      ).catch((error: unknown) =>
        world.log.error({ err: error, ...found }, "Requeueing the conversation of an absent agent failed"),
      );
    }
    await serveAllQueues(world);
  },
});

/** Takes a conversation from an absent agent and routes it again by the same policy. */
async function requeue(
  change: Change,
  conversation: ConversationRow,
  found: Pick<ConversationRow, "team_id" | "assigned_to">,
): Promise<void> {
  const { tx, world, now } = change;
  // It was found without a lock, and may have been answered, closed or reassigned meanwhile.
  const isWaiting = conversation.status === "open" && conversation.waiting_since !== null;
  const isReassigned =
    conversation.team_id !== found.team_id || conversation.assigned_to !== found.assigned_to;
  if (!isWaiting || isReassigned) {
    return;
  }
  const policies = await activePolicies(tx, conversation.organization_id);
  const policy = await policyForQueued({ db: tx, world }, { conversation, policies, now });
  // Decided before the agent is removed, because a decision locks all members that it affects in one order.
  const decision = policy && (await decide(tx, { conversation, policy }, { now, locks: true }));
  const unassigned = await changeConversation(change, conversation, {
    assigned_to: null,
    queued_at: now.toISOString(),
  });
  const reason = "The agent is away, and the contact waits for an answer.";
  await recordAssignment(change, unassigned, { assignment_type: "unassign", reason });
  if (decision) {
    await applyDecisions(change, [{ conversation: unassigned, trigger: "requeue", decision }]);
  }
}

/** Enqueues one run for each organization with queued conversations. */
async function serveAllQueues(world: World): Promise<void> {
  const rows = await world.database.queries
    .selectFrom("conversations")
    .select("organization_id")
    .distinct()
    .where("queued_at", "is not", null)
    .execute();
  await world.database.transaction((tx) =>
    tx.enqueue(rows.map(({ organization_id }) => createServeQueueJob(organization_id))),
  );
}
