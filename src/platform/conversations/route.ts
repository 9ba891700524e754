/** Carries out what routing decides: the conversation gets its agent, or waits in a queue and is tried again. */
import { announceCapacity, type Work } from "../core/capacity.ts";
import { inLine } from "../core/line.ts";
import type { Work as Job } from "../core/module.ts";
import type { World } from "../core/world.ts";
import {
  activePolicies,
  type Decided,
  decide,
  decideNothing,
  hasPolicies,
  matchPolicies,
  type Policy,
  policyOfQueue,
  policyOfTeam,
  recordDecision,
  settleDecision,
  type Trigger,
} from "../routing/index.ts";
import { recordAssignment } from "./assignments.ts";
import { move, type Thread } from "./move.ts";
import { findTeam, findThread } from "./thread.ts";

interface Payload {
  readonly organization_id: string;
  readonly conversation_id: string;
}

/** Routes a conversation that somebody should have, right after what made it so has committed. */
export const route: Job<Payload & { readonly trigger: Trigger }> = {
  name: "conversation.route",

  async run(payload, world) {
    await inLine(payload.organization_id, () =>
      withThread(world, payload, async (work, thread) => {
        if (needsAgent(thread)) {
          await routeThread(work, thread, payload.trigger);
        }
      }),
    );
    return undefined;
  },
};

/** Tries again when time alone may have changed the answer: a further tier, or fewer skills. */
export const escalate: Job<Payload & { readonly queued_at: string }> = {
  name: "conversation.escalate",

  async run(payload, world) {
    await withThread(world, payload, async (work, thread) => {
      // One that was queued anew since has a job of its own.
      const policy =
        thread.queued_at === payload.queued_at && (await policyOfQueue(work.tx, thread, work.now));
      if (policy) {
        const decided = await decide(work.tx, policy, { thread, now: work.now, locks: true });
        await carryOut(work, thread, { decided, trigger: "escalation" });
      }
    });
    return undefined;
  },
};

/** Asks for an agent after the commit, if there is anything by which one could be found. */
export async function requestRouting(work: Work, thread: Thread, trigger: Trigger): Promise<void> {
  const { organization_id, id: conversation_id } = thread;
  const isRoutable = thread.team_id !== null || (await hasPolicies(work.tx, organization_id));
  if (needsAgent(thread) && isRoutable) {
    const payload = { organization_id, conversation_id, trigger };
    await work.world.jobs.enqueue(work.tx, { name: route.name, payload, organization_id });
  }
}

/** By the first policy that is for it; else by the team that it was left to. */
async function routeThread(work: Work, thread: Thread, trigger: Trigger): Promise<void> {
  const { tx, now } = work;
  const policies = await activePolicies(tx, thread.organization_id);
  const [matching] = await matchPolicies(tx, { thread, policies, now });
  const policy = matching ?? (await policyOfOwnTeam(work, thread));
  if (policy) {
    await carryOut(work, thread, { decided: await decideInTurn(work, thread, policy), trigger });
    return;
  }
  // Who has set up nothing is told nothing.
  if (policies.length > 0) {
    await recordDecision(work, thread, { trigger, decision: decideNothing(policies) });
  }
}

/** Whoever has become free belongs to those who wait: a newcomer does not pass them. */
async function decideInTurn(work: Work, thread: Thread, policy: Policy): Promise<Decided> {
  const { tx, now } = work;
  const decided = await decide(tx, policy, { thread, now, locks: true });
  if (decided.assigned_to === null || !(await doOthersWait(work, thread, decided))) {
    return decided;
  }
  await announceCapacity(work, thread.organization_id);
  return decide(tx, policy, { thread, now, locks: true, isBehind: true });
}

async function doOthersWait({ tx }: Work, thread: Thread, { policy_id, team_id }: Decided): Promise<boolean> {
  const waiting = tx
    .selectFrom("conversations")
    .select("id")
    .where("organization_id", "=", thread.organization_id)
    .where("queued_at", "is not", null);
  const same =
    policy_id === null
      ? waiting.where("policy_id", "is", null).where("team_id", "=", team_id)
      : waiting.where("policy_id", "=", policy_id);
  return (await same.limit(1).executeTakeFirst()) !== undefined;
}

async function policyOfOwnTeam({ tx, now }: Work, thread: Thread): Promise<Policy | undefined> {
  const team = thread.team_id && (await findTeam(tx, thread.organization_id, thread.team_id));
  return team ? policyOfTeam(tx, { thread, team, now }) : undefined;
}

/** Moves the thread as decided and records why; of one that stays in the queue, when to try again. */
export async function carryOut(
  work: Work,
  thread: Thread,
  { decided, trigger }: { decided: Decided; trigger: Trigger },
): Promise<Thread> {
  const { assigned_to, team_id, policy_id, explanation } = decided;
  const queued_at = thread.queued_at ?? work.now.toISOString();
  await recordDecision(work, thread, { trigger, decision: decided });
  await settleDecision(work.tx, thread, decided);
  const moved = await move(work, thread, { assigned_to, team_id, policy_id, queued_at });
  if (moved.queued_at !== null && decided.againAt) {
    const { organization_id, id: conversation_id } = moved;
    await work.world.jobs.enqueue(work.tx, {
      name: escalate.name,
      payload: { organization_id, conversation_id, queued_at: moved.queued_at },
      organization_id,
      runAt: decided.againAt,
    });
  }
  // What a person gives to a team is recorded as theirs.
  if (assigned_to !== null && trigger !== "assign") {
    await recordAssignment(work, moved, { assignment_type: "routing", reason: explanation });
  }
  return moved;
}

/** Open, and neither with somebody nor on the way to somebody. */
function needsAgent({ status, assigned_to, queued_at }: Thread): boolean {
  return status === "open" && assigned_to === null && queued_at === null;
}

/** Does something with a thread that is there, in a transaction of its own. */
export async function withThread(
  world: World,
  { organization_id, conversation_id }: Payload,
  use: (work: Work, thread: Thread) => Promise<void>,
): Promise<void> {
  await world.database.transaction(async (tx) => {
    const thread = await findThread(tx, organization_id, conversation_id, { locks: true });
    if (thread) {
      await use({ tx, world, now: world.now() }, thread);
    }
  });
}
