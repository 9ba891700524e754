/** Routes conversations that need an agent, in batches. */

import { z } from "zod";
import { routingTriggers } from "../../../../tools/routing.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { coalesce } from "../../../database/sharing/index.ts";
import { newJob } from "../../../jobs/job.ts";
import { capacityFreed } from "../../account/users.ts";
import { type Change, defineJob, system, type World } from "../../foundation/kernel/index.ts";
import {
  activePolicies,
  decideFromSnapshot,
  decideUnmatched,
  hasPolicies,
  matchPolicies,
  type Policy,
  policyForOwnTeam,
  type RoutingRequest,
  readFacts,
  readRoutingSnapshot,
  recordDecision,
  reserveAgent,
  type Trigger,
} from "../routing/index.ts";
import { applyDecisions } from "./apply-decisions.ts";
import { type ConversationRow, tryLockConversations, withConversation } from "./find/index.ts";
import { heldByBot } from "./hooks.ts";

const RoutePayload = z.object({
  organization_id: z.string(),
  conversation_id: z.string(),
  trigger: z.enum(routingTriggers),
});
type RoutePayload = Readonly<z.infer<typeof RoutePayload>>;

/** Routes a conversation right after the commit of the change that made it need an agent. */
export const routeJob = defineJob({
  name: "conversation.route",
  payload: RoutePayload,

  async run(payload, world, { number }) {
    // A second attempt runs alone: another conversation may have failed the batch.
    const isDone = number === 1 && (await routeBatch(world, payload));
    if (!isDone) {
      await withConversation(world, payload, (change, conversation) =>
        routeConversations(change, [{ conversation, trigger: payload.trigger }]),
      );
    }
    return undefined;
  },
});

/**
 * Routes the conversations of one organization that arrive while a batch is running: they need the same
 * members and so share one lock and one commit. Returns false for a conversation that another transaction has
 * locked, or that no longer exists: waiting for one lock while holding the locks of the batch could deadlock.
 */
const routeBatch = coalesce(
  async (world: World, payloads: readonly RoutePayload[]): Promise<boolean[]> =>
    world.database.transaction(async (tx) => {
      const ids = payloads.map(({ conversation_id }) => conversation_id);
      const locked = await tryLockConversations(tx, payloads[0]?.organization_id ?? "", ids);
      // Two messages from one contact request the routing of the same conversation twice.
      const unique = payloads.filter(({ conversation_id }, index) => ids.indexOf(conversation_id) === index);
      const items = unique.flatMap(({ conversation_id, trigger }) => {
        const conversation = locked.get(conversation_id);
        return conversation ? [{ conversation, trigger }] : [];
      });
      await routeConversations({ tx, world, now: world.now(), actor: system }, items);
      return ids.map((id) => locked.has(id));
    }),
  ({ organization_id }) => organization_id,
);

/**
 * Enqueues the routing of those conversations of an organization that need an agent, except where neither a
 * team nor a policy could find one.
 */
export async function requestRouting(
  { tx }: Change,
  conversations: readonly ConversationRow[],
  trigger: Trigger,
): Promise<void> {
  const waiting = conversations.filter(needsAgent);
  const withoutTeam = waiting.find(({ team_id }) => team_id === null);
  const isAnyRoutable = withoutTeam !== undefined && (await hasPolicies(tx, withoutTeam.organization_id));
  const routable = waiting.filter(({ team_id }) => team_id !== null || isAnyRoutable);
  await tx.enqueue(
    routable.map(({ organization_id, id: conversation_id }) =>
      newJob(routeJob, { organization_id, conversation_id, trigger }),
    ),
  );
}

interface RouteItem {
  readonly conversation: ConversationRow;
  readonly trigger: Trigger;
}

/**
 * Routes conversations of one organization, each by the first policy that matches, else by
 * the policy of its team.
 */
async function routeConversations(change: Change, items: readonly RouteItem[]): Promise<void> {
  const { tx, now } = change;
  const waiting = items.filter(({ conversation }) => needsAgent(conversation));
  const [first] = waiting;
  if (!first) {
    return;
  }
  const organization = first.conversation.organization_id;
  const conversation_ids = waiting.map(({ conversation }) => conversation.id);
  const held = await heldByBot.run(change.world, tx, { organization, conversation_ids });
  const unassigned = waiting.filter(({ conversation }) => !held.some((ids) => ids.has(conversation.id)));
  const policies = await activePolicies(tx, organization);
  const context = { db: tx, world: change.world };
  const conversations = unassigned.map(({ conversation }) => conversation);
  const facts = await readFacts(context, conversations, policies);
  const requests: (RoutingRequest & RouteItem)[] = [];
  for (const { conversation, trigger } of unassigned) {
    const lookup = { conversation, policies, now, facts };
    const policy = matchPolicies(facts, lookup)[0] ?? (await policyForOwnTeam(context, lookup));
    if (policy) {
      requests.push({ conversation, trigger, policy });
    } else if (policies.length > 0) {
      // Without routing policies no decision is recorded.
      await recordDecision(change, { conversation, trigger, decision: decideUnmatched(policies) });
    }
  }
  await routeInOrder(change, organization, requests);
}

/**
 * Routes in the order of arrival. A free agent goes to the conversations already in the
 * queue, not to a new one.
 */
async function routeInOrder(
  change: Change,
  organization: string,
  requests: readonly (RoutingRequest & RouteItem)[],
) {
  const { tx, now } = change;
  const snapshot = await readRoutingSnapshot(tx, requests, { organization, now, locks: true });
  const occupied = await findOccupiedQueues(change, organization, requests);
  let hasSkippedAgent = false;
  const records = requests.map((request) => {
    const queue = queueKey(request.policy);
    const unqueued = decideFromSnapshot(snapshot, request);
    const isBehindOthers = unqueued.assigned_to !== null && occupied.has(queue);
    const decision = isBehindOthers ? decideFromSnapshot(snapshot, request, { isBehindOthers }) : unqueued;
    if (decision.assigned_to === null) {
      occupied.add(queue);
    }
    reserveAgent(snapshot, request, decision);
    hasSkippedAgent ||= isBehindOthers;
    return { ...request, decision };
  });
  await applyDecisions(change, records);
  if (hasSkippedAgent) {
    await capacityFreed.run(change.world, change, organization);
  }
}

/**
 * The queues that are not empty. Read with the members locked: the previous lock holder may have filled them.
 */
async function findOccupiedQueues(
  { tx }: Change,
  organization: string,
  requests: readonly RoutingRequest[],
): Promise<Set<string>> {
  const policies = new Map(requests.map(({ policy }) => [queueKey(policy), policy]));
  const occupied = new Set<string>();
  for (const [queue, { id, target_id }] of policies) {
    const queued = ofOrganization(tx, organization)
      .selectFrom("conversations")
      .select("id")
      .where("queued_at", "is not", null);
    const inQueue =
      id === null
        ? queued.where("policy_id", "is", null).where("team_id", "=", target_id)
        : queued.where("policy_id", "=", id);
    if (await inQueue.limit(1).executeTakeFirst()) {
      occupied.add(queue);
    }
  }
  return occupied;
}

/** Each policy has one queue, and so has each team without a policy. */
function queueKey({ id, target_id }: Policy): string {
  return id ?? `team ${target_id}`;
}

/** Whether the conversation is open, unassigned and not queued. */
function needsAgent({ status, assigned_to, queued_at }: ConversationRow): boolean {
  return status === "open" && assigned_to === null && queued_at === null;
}
