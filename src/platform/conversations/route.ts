/** Carries out what routing decides: the conversation gets its agent, or waits in a queue and is tried again. */
import type { NewJob } from "../../jobs/job.ts";
import { type Change, coalesce, enqueueServeQueue, type ModuleJob, type World } from "../kernel/index.ts";
import {
  activePolicies,
  type DecisionRecord,
  decide,
  decideFromSnapshot,
  decideUnmatched,
  hasPolicies,
  matchPolicies,
  type Policy,
  type PolicyDecision,
  policyForQueued,
  policyForTeam,
  type RoutingRequest,
  readRoutingSnapshot,
  recordDecision,
  recordPolicyDecisions,
  reserveAgent,
  type Trigger,
} from "../routing/index.ts";
import { recordAssignments } from "./assignments.ts";
import { changeConversations, type Thread } from "./change.ts";
import { findConversation, findTeam, tryLockConversations } from "./find.ts";

interface Payload {
  readonly organization_id: string;
  readonly conversation_id: string;
}

type RoutePayload = Payload & { readonly trigger: Trigger };

/** Routes a conversation that somebody should have, right after what made it so has committed. */
export const routeJob: ModuleJob<RoutePayload> = {
  name: "conversation.route",

  async run(payload, world, { number }) {
    // After a failure alone: it may have been another one's.
    const isDone = number === 1 && (await routeBatch(world, payload));
    if (!isDone) {
      await withConversation(world, payload, (work, conversation) =>
        routeConversations(work, [{ conversation, trigger: payload.trigger }]),
      );
    }
    return undefined;
  },
};

/**
 * Those of one organization that come while some are being routed: they need the same members, and get them
 * by one lock and one commit. False for one that somebody else holds just now (or nobody has any more): who
 * waited for it with others in hand might be waited for by its holder.
 */
const routeBatch = coalesce(
  async (world, asked: readonly RoutePayload[]): Promise<boolean[]> =>
    world.database.transaction(async (tx) => {
      const ids = asked.map(({ conversation_id }) => conversation_id);
      const held = await tryLockConversations(tx, asked[0]?.organization_id ?? "", ids);
      // One whose contact wrote twice is asked for twice.
      const first = asked.filter(({ conversation_id }, index) => ids.indexOf(conversation_id) === index);
      const calls = first.flatMap(({ conversation_id, trigger }) => {
        const conversation = held.get(conversation_id);
        return conversation ? [{ conversation, trigger }] : [];
      });
      await routeConversations({ tx, world, now: world.now() }, calls);
      return ids.map((id) => held.has(id));
    }),
  ({ organization_id }) => organization_id,
);

/** Tries again when time alone may have changed the answer: a further tier, or fewer skills. */
export const escalateJob: ModuleJob<Payload & { readonly queued_at: string }> = {
  name: "conversation.escalate",

  async run(payload, world) {
    await withConversation(world, payload, async (work, conversation) => {
      const { tx, now } = work;
      // One that was queued anew since has a job of its own.
      if (conversation.queued_at !== payload.queued_at) {
        return;
      }
      const policies = await activePolicies(tx, conversation.organization_id);
      const policy = await policyForQueued(tx, { conversation, policies, now });
      if (policy) {
        const decision = await decide(tx, { conversation, policy }, { now, locks: true });
        await applyDecisions(work, [{ conversation, trigger: "escalation", decision }]);
      }
    });
    return undefined;
  },
};

/** Asks for an agent after the commit, if there is anything by which one could be found. */
export async function requestRouting(work: Change, conversation: Thread, trigger: Trigger): Promise<void> {
  const { organization_id, id: conversation_id } = conversation;
  const isRoutable = conversation.team_id !== null || (await hasPolicies(work.tx, organization_id));
  if (needsAgent(conversation) && isRoutable) {
    const payload = { organization_id, conversation_id, trigger };
    await work.world.jobs.enqueue(work.tx, { name: routeJob.name, payload, organization_id });
  }
}

interface RouteCall {
  readonly conversation: Thread;
  readonly trigger: Trigger;
}

/** Of one organization: each by the first policy that is for it; else by the team that it was left to. */
async function routeConversations(work: Change, calls: readonly RouteCall[]): Promise<void> {
  const { tx, now } = work;
  const [first, ...others] = calls.filter(({ conversation }) => needsAgent(conversation));
  if (!first) {
    return;
  }
  const policies = await activePolicies(tx, first.conversation.organization_id);
  const wishes: (RoutingRequest & RouteCall)[] = [];
  for (const { conversation, trigger } of [first, ...others]) {
    const [matching] = await matchPolicies(tx, { conversation, policies, now });
    const policy = matching ?? (await policyForOwnTeam(work, conversation, policies));
    if (policy) {
      wishes.push({ conversation, trigger, policy });
    } else if (policies.length > 0) {
      // Who has set up nothing is told nothing.
      await recordDecision(work, { conversation, trigger, decision: decideUnmatched(policies) });
    }
  }
  await routeInOrder(work, first.conversation.organization_id, wishes);
}

/** In the order in which they came. Whoever has become free belongs to those who wait: a newcomer does not pass them. */
async function routeInOrder(
  work: Change,
  organization: string,
  wishes: readonly (RoutingRequest & RouteCall)[],
) {
  const board = await readRoutingSnapshot(work.tx, wishes, { organization, now: work.now, locks: true });
  const lines = await findOccupiedQueues(work, organization, wishes);
  let hasPassedOver = false;
  const made = wishes.map((wish) => {
    const line = queueKey(wish.policy);
    const free = decideFromSnapshot(board, wish);
    const isBehind = free.assigned_to !== null && lines.has(line);
    const decision = isBehind ? decideFromSnapshot(board, wish, { isBehind }) : free;
    if (decision.assigned_to === null) {
      lines.add(line);
    }
    reserveAgent(board, wish, decision);
    hasPassedOver ||= isBehind;
    return { ...wish, decision };
  });
  await applyDecisions(work, made);
  if (hasPassedOver) {
    await enqueueServeQueue(work, organization);
  }
}

/** The lines in which somebody waits. Behind the members' lock: whoever held it before may have put them there. */
async function findOccupiedQueues(
  { tx }: Change,
  organization: string,
  wishes: readonly RoutingRequest[],
): Promise<Set<string>> {
  const policies = new Map(wishes.map(({ policy }) => [queueKey(policy), policy]));
  const lines = new Set<string>();
  for (const [line, { id, target_id }] of policies) {
    const waiting = tx
      .selectFrom("conversations")
      .select("id")
      .where("organization_id", "=", organization)
      .where("queued_at", "is not", null);
    const same =
      id === null
        ? waiting.where("policy_id", "is", null).where("team_id", "=", target_id)
        : waiting.where("policy_id", "=", id);
    if (await same.limit(1).executeTakeFirst()) {
      lines.add(line);
    }
  }
  return lines;
}

/** Those of one policy wait in one line; of a team without a policy, too. */
function queueKey({ id, target_id }: Policy): string {
  return id ?? `team ${target_id}`;
}

async function policyForOwnTeam({ tx, now }: Change, conversation: Thread, policies: readonly Policy[]) {
  const team =
    conversation.team_id && (await findTeam(tx, conversation.organization_id, conversation.team_id));
  return team ? policyForTeam(tx, { conversation, team, policies, now }) : undefined;
}

/** Moves conversations of one organization as decided and records why; of those that stay in the queue, when to try again. */
export async function applyDecisions(
  work: Change,
  made: readonly DecisionRecord<PolicyDecision>[],
): Promise<Thread[]> {
  const [first] = made;
  if (!first) {
    return [];
  }
  await recordPolicyDecisions(work, first.conversation.organization_id, made);
  const moved = await changeConversations(
    work,
    made.map(({ conversation, decision: { assigned_to, team_id, policy_id, turn } }) => {
      const queued_at = conversation.queued_at ?? work.now.toISOString();
      return { conversation, change: { assigned_to, team_id, policy_id, queued_at }, turn };
    }),
  );
  const results = moved.map((conversation, index) => ({
    ...(made[index] as DecisionRecord<PolicyDecision>),
    conversation,
  })); // one for each
  await work.world.jobs.enqueue(work.tx, ...results.flatMap(createEscalationJobs));
  // What a person gives to a team is recorded as theirs.
  const given = results.filter(
    ({ trigger, decision }) => decision.assigned_to !== null && trigger !== "assign",
  );
  await recordAssignments(
    work,
    given.map(({ conversation, decision: { explanation } }) => ({
      conversation,
      given: { assignment_type: "routing", reason: explanation },
    })),
  );
  return moved;
}

function createEscalationJobs({
  conversation,
  decision: { retryAt },
}: DecisionRecord<PolicyDecision>): NewJob[] {
  const { organization_id, id: conversation_id, queued_at } = conversation;
  const payload = { organization_id, conversation_id, queued_at };
  return queued_at !== null && retryAt
    ? [{ name: escalateJob.name, payload, organization_id, runAt: retryAt }]
    : [];
}

/** Open, and neither with somebody nor on the way to somebody. */
function needsAgent({ status, assigned_to, queued_at }: Thread): boolean {
  return status === "open" && assigned_to === null && queued_at === null;
}

/** Does something with a conversation that is there, in a transaction of its own. */
export async function withConversation(
  world: World,
  { organization_id, conversation_id }: Payload,
  use: (work: Change, conversation: Thread) => Promise<void>,
): Promise<void> {
  await world.database.transaction(async (tx) => {
    const conversation = await findConversation(tx, organization_id, conversation_id, { locks: true });
    if (conversation) {
      await use({ tx, world, now: world.now() }, conversation);
    }
  });
}
