/** Carries out what routing decides: the conversation gets its agent, or waits in a queue and is tried again. */
import type { NewJob } from "../../jobs/job.ts";
import { announceCapacity, type Change, gather, type ModuleJob, type World } from "../kernel/index.ts";
import {
  activePolicies,
  type Decided,
  decide,
  decideNothing,
  decideOn,
  hasPolicies,
  type Made,
  matchPolicies,
  openBoard,
  type Policy,
  policyOfQueue,
  policyOfTeam,
  recordDecided,
  recordDecision,
  seat,
  type Trigger,
  type Wish,
} from "../routing/index.ts";
import { recordAssignments } from "./assignments.ts";
import { moveAll, type Thread } from "./move.ts";
import { findTeam, findThread, holdThreads } from "./thread.ts";

interface Payload {
  readonly organization_id: string;
  readonly conversation_id: string;
}

type Asked = Payload & { readonly trigger: Trigger };

/** Routes a conversation that somebody should have, right after what made it so has committed. */
export const route: ModuleJob<Asked> = {
  name: "conversation.route",

  async run(payload, world, { number }) {
    // After a failure alone: it may have been another one's.
    const isDone = number === 1 && (await routeTogether(world, payload));
    if (!isDone) {
      await withThread(world, payload, (work, thread) =>
        routeThreads(work, [{ thread, trigger: payload.trigger }]),
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
const routeTogether = gather(
  async (world, asked: readonly Asked[]): Promise<boolean[]> =>
    world.database.transaction(async (tx) => {
      const ids = asked.map(({ conversation_id }) => conversation_id);
      const held = await holdThreads(tx, asked[0]?.organization_id ?? "", ids);
      // One whose contact wrote twice is asked for twice.
      const first = asked.filter(({ conversation_id }, index) => ids.indexOf(conversation_id) === index);
      const calls = first.flatMap(({ conversation_id, trigger }) => {
        const thread = held.get(conversation_id);
        return thread ? [{ thread, trigger }] : [];
      });
      await routeThreads({ tx, world, now: world.now() }, calls);
      return ids.map((id) => held.has(id));
    }),
  ({ organization_id }) => organization_id,
);

/** Tries again when time alone may have changed the answer: a further tier, or fewer skills. */
export const escalate: ModuleJob<Payload & { readonly queued_at: string }> = {
  name: "conversation.escalate",

  async run(payload, world) {
    await withThread(world, payload, async (work, thread) => {
      const { tx, now } = work;
      // One that was queued anew since has a job of its own.
      if (thread.queued_at !== payload.queued_at) {
        return;
      }
      const policies = await activePolicies(tx, thread.organization_id);
      const policy = await policyOfQueue(tx, { thread, policies, now });
      if (policy) {
        const decision = await decide(tx, { thread, policy }, { now, locks: true });
        await carryOut(work, [{ thread, trigger: "escalation", decision }]);
      }
    });
    return undefined;
  },
};

/** Asks for an agent after the commit, if there is anything by which one could be found. */
export async function requestRouting(work: Change, thread: Thread, trigger: Trigger): Promise<void> {
  const { organization_id, id: conversation_id } = thread;
  const isRoutable = thread.team_id !== null || (await hasPolicies(work.tx, organization_id));
  if (needsAgent(thread) && isRoutable) {
    const payload = { organization_id, conversation_id, trigger };
    await work.world.jobs.enqueue(work.tx, { name: route.name, payload, organization_id });
  }
}

interface Call {
  readonly thread: Thread;
  readonly trigger: Trigger;
}

/** Of one organization: each by the first policy that is for it; else by the team that it was left to. */
async function routeThreads(work: Change, calls: readonly Call[]): Promise<void> {
  const { tx, now } = work;
  const [first, ...others] = calls.filter(({ thread }) => needsAgent(thread));
  if (!first) {
    return;
  }
  const policies = await activePolicies(tx, first.thread.organization_id);
  const wishes: (Wish & Call)[] = [];
  for (const { thread, trigger } of [first, ...others]) {
    const [matching] = await matchPolicies(tx, { thread, policies, now });
    const policy = matching ?? (await policyOfOwnTeam(work, thread, policies));
    if (policy) {
      wishes.push({ thread, trigger, policy });
    } else if (policies.length > 0) {
      // Who has set up nothing is told nothing.
      await recordDecision(work, { thread, trigger, decision: decideNothing(policies) });
    }
  }
  await routeInTurn(work, first.thread.organization_id, wishes);
}

/** In the order in which they came. Whoever has become free belongs to those who wait: a newcomer does not pass them. */
async function routeInTurn(work: Change, organization: string, wishes: readonly (Wish & Call)[]) {
  const board = await openBoard(work.tx, wishes, { organization, now: work.now, locks: true });
  const lines = await findLines(work, organization, wishes);
  let hasPassedOver = false;
  const made = wishes.map((wish) => {
    const line = lineOf(wish.policy);
    const free = decideOn(board, wish);
    const isBehind = free.assigned_to !== null && lines.has(line);
    const decision = isBehind ? decideOn(board, wish, { isBehind }) : free;
    if (decision.assigned_to === null) {
      lines.add(line);
    }
    seat(board, wish, decision);
    hasPassedOver ||= isBehind;
    return { ...wish, decision };
  });
  await carryOut(work, made);
  if (hasPassedOver) {
    await announceCapacity(work, organization);
  }
}

/** The lines in which somebody waits. Behind the members' lock: whoever held it before may have put them there. */
async function findLines(
  { tx }: Change,
  organization: string,
  wishes: readonly Wish[],
): Promise<Set<string>> {
  const policies = new Map(wishes.map(({ policy }) => [lineOf(policy), policy]));
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
function lineOf({ id, target_id }: Policy): string {
  return id ?? `team ${target_id}`;
}

async function policyOfOwnTeam({ tx, now }: Change, thread: Thread, policies: readonly Policy[]) {
  const team = thread.team_id && (await findTeam(tx, thread.organization_id, thread.team_id));
  return team ? policyOfTeam(tx, { thread, team, policies, now }) : undefined;
}

/** Moves threads of one organization as decided and records why; of those that stay in the queue, when to try again. */
export async function carryOut(work: Change, made: readonly Made<Decided>[]): Promise<Thread[]> {
  const [first] = made;
  if (!first) {
    return [];
  }
  await recordDecided(work, first.thread.organization_id, made);
  const moved = await moveAll(
    work,
    made.map(({ thread, decision: { assigned_to, team_id, policy_id, turn } }) => {
      const queued_at = thread.queued_at ?? work.now.toISOString();
      return { thread, change: { assigned_to, team_id, policy_id, queued_at }, turn };
    }),
  );
  const results = moved.map((thread, index) => ({ ...(made[index] as Made<Decided>), thread })); // one for each
  await work.world.jobs.enqueue(work.tx, ...results.flatMap(escalation));
  // What a person gives to a team is recorded as theirs.
  const given = results.filter(
    ({ trigger, decision }) => decision.assigned_to !== null && trigger !== "assign",
  );
  await recordAssignments(
    work,
    given.map(({ thread, decision: { explanation } }) => ({
      thread,
      given: { assignment_type: "routing", reason: explanation },
    })),
  );
  return moved;
}

function escalation({ thread, decision: { againAt } }: Made<Decided>): NewJob[] {
  const { organization_id, id: conversation_id, queued_at } = thread;
  const payload = { organization_id, conversation_id, queued_at };
  return queued_at !== null && againAt
    ? [{ name: escalate.name, payload, organization_id, runAt: againAt }]
    : [];
}

/** Open, and neither with somebody nor on the way to somebody. */
function needsAgent({ status, assigned_to, queued_at }: Thread): boolean {
  return status === "open" && assigned_to === null && queued_at === null;
}

/** Does something with a thread that is there, in a transaction of its own. */
export async function withThread(
  world: World,
  { organization_id, conversation_id }: Payload,
  use: (work: Change, thread: Thread) => Promise<void>,
): Promise<void> {
  await world.database.transaction(async (tx) => {
    const thread = await findThread(tx, organization_id, conversation_id, { locks: true });
    if (thread) {
      await use({ tx, world, now: world.now() }, thread);
    }
  });
}
