/**
 * The queue of conversations that wait for an agent: the oldest is served first, whenever somebody is free.
 *
 * A run looks at a bounded number of them, some in each transaction, and stops as soon as nobody is free; what
 * it passed over (another skill, another team) keeps its place. Runs of one organization follow each other. A
 * sweep comes every minute for what no event tells of, and takes back what an absent agent leaves unanswered.
 */
import { sql } from "kysely";
import type { Transaction } from "../../database/database.ts";
import { refersTo } from "../../database/query/index.ts";
import { type Change, type ModuleJob, serveQueueJob, type World } from "../kernel/index.ts";
import {
  activePolicies,
  type Decided,
  decide,
  decideOn,
  type Made,
  openBoard,
  policyOfQueue,
  seat,
  type Wish,
} from "../routing/index.ts";
import { recordAssignment } from "./assignments.ts";
import { move, type Thread } from "./move.ts";
import { carryOut, withThread } from "./route.ts";

/** Where a run goes on. */
interface Place {
  readonly queued_at: string;
  readonly id: string;
}

/** How many one run looks at; a few seconds, so that other jobs of the lane get their turn. */
const perRun = 100;
/** How many at once: the members are locked as long as it takes. */
const perTransaction = 20;

export const serve: ModuleJob<{ readonly organization_id: string; readonly after?: Place }> = {
  name: serveQueueJob,

  async run({ organization_id, after }, world) {
    const full = new Set<string>();
    let place = after;
    for (let count = 0; count < perRun; ) {
      const looked = await world.database.transaction((tx) =>
        serveNext({ tx, world, now: world.now() }, organization_id, { after: place, full }),
      );
      const last = looked.at(-1);
      if (!last) {
        return undefined;
      }
      place = { queued_at: last.queued_at ?? "", id: last.id };
      count += looked.length;
    }
    const payload = { organization_id, after: place };
    const key = `${serveQueueJob}:${organization_id}`;
    await world.database.transaction((tx) =>
      world.jobs.enqueue(tx, { name: serveQueueJob, payload, organization_id, key }),
    );
    return undefined;
  },
};

/** Looks at the next ones that wait, as many as there is room for; none when none is left, or nobody is free. */
async function serveNext(
  work: Change,
  organization: string,
  { after, full }: { after: Place | undefined; full: Set<string> },
): Promise<Thread[]> {
  const { tx, now } = work;
  const room = Math.min(await countRoom(work, organization), perTransaction);
  const threads = room > 0 ? await lockNext(work, organization, { after, room }) : [];
  const policies = await activePolicies(tx, organization);
  const wishes: Wish[] = [];
  for (const thread of threads) {
    const policy = await policyOfQueue(tx, { thread, policies, now });
    if (policy && !full.has(sameWish({ thread, policy }))) {
      wishes.push({ thread, policy });
    }
  }
  if (wishes.length > 0) {
    await serveAll(work, organization, { wishes, full });
  }
  return threads;
}

/** One after the other; `full` are the wishes for which nobody is free any more. */
async function serveAll(
  work: Change,
  organization: string,
  { wishes, full }: { wishes: readonly Wish[]; full: Set<string> },
): Promise<void> {
  const board = await openBoard(work.tx, wishes, { organization, now: work.now, locks: true });
  const made: Made<Decided>[] = [];
  for (const wish of wishes) {
    const same = sameWish(wish);
    const decision = full.has(same) ? undefined : decideOn(board, wish);
    if (decision && decision.assigned_to !== null) {
      seat(board, wish, decision);
      made.push({ thread: wish.thread, trigger: "capacity", decision });
    } else {
      full.add(same);
    }
  }
  await carryOut(work, made);
}

/** Whoever waits behind one with the same wish would find the same. */
function sameWish({ thread, policy }: Wish): string {
  const skills = thread.tags.filter((tag) => tag.startsWith("skill:"));
  return [policy.id, policy.target_id, ...skills].join(" ");
}

/** How many more conversations the agents can take, all teams together. */
async function countRoom({ tx }: Change, organization: string): Promise<number> {
  const { room } = await tx
    .selectFrom("team_members")
    .innerJoin("teams", (join) => join.on(refersTo("team_members.team_id", "teams")))
    .select(sql<number>`coalesce(sum(max_concurrent_chats - current_chat_count), 0)`.as("room"))
    .where("team_members.organization_id", "=", organization)
    .where("teams.is_active", "=", true)
    .where("is_available", "=", true)
    .whereRef("current_chat_count", "<", "max_concurrent_chats")
    .executeTakeFirstOrThrow();
  return room > 0 || !(await isTargetUncapped(tx, organization)) ? room : perTransaction;
}

/** Whether a policy is for a user who is in no active team: there is no seat that could be full. */
async function isTargetUncapped(tx: Transaction, organization: string): Promise<boolean> {
  const { rows } = await sql`
    select from routing_policies
    join users on users.organization_id = routing_policies.organization_id and users.id = target_id
    where routing_policies.organization_id = ${organization}
      and target_type = 'user' and routing_policies.is_active and users.is_active
      and not exists (
        select from team_members
        join teams on teams.organization_id = team_members.organization_id and teams.id = team_id
        where team_members.organization_id = ${organization} and user_id = target_id and teams.is_active
      )
    limit 1
  `.execute(tx);
  return rows.length > 0;
}

/** Those that have waited longest, behind the place; one that somebody is moving just now is left to them. */
async function lockNext(
  { tx }: Change,
  organization: string,
  { after, room }: { after: Place | undefined; room: number },
): Promise<Thread[]> {
  return tx
    .selectFrom("conversations")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("queued_at", "is not", null)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(queued_at, id) > (${after?.queued_at}::timestamptz, ${after?.id})`),
    )
    .orderBy("queued_at")
    .orderBy("id")
    .limit(room)
    .forUpdate()
    .skipLocked()
    .execute();
}

/** How many conversations of absent agents one sweep takes back. */
const perSweep = 200;

export const sweep: ModuleJob<unknown> = {
  name: "queue.sweep",
  schedule: "* * * * *",

  async run(_, world) {
    const now = world.now();
    const { rows } = await sql<{ organization_id: string; conversation_id: string }>`
      select conversations.organization_id, conversations.id as conversation_id
      from team_members
      join users on users.organization_id = team_members.organization_id and users.id = team_members.user_id
      join conversations on conversations.organization_id = team_members.organization_id
        and conversations.assigned_to = team_members.user_id and conversations.team_id = team_members.team_id
      join routing_policies on routing_policies.organization_id = conversations.organization_id
        and routing_policies.id = conversations.policy_id
      where conversations.erased_at is null and conversations.status = 'open' and conversations.waiting_since is not null
        and (unavailable_since is not null or not users.is_active)
        and coalesce(unavailable_since, users.updated_at) <= ${now.toISOString()}::timestamptz
          - make_interval(secs => (routing_policies.settings ->> 'requeue_after_seconds')::int)
      limit ${perSweep}
    `.execute(world.database.queries);
    for (const payload of rows) {
      // One that fails is looked at again by the next sweep, and must not keep the others' queues from theirs.
      await withThread(world, payload, requeue).catch((error: unknown) =>
        world.log.error({ err: error, ...payload }, "A conversation could not be taken off an absent agent"),
      );
    }
    await serveEverybody(world);
    return undefined;
  },
};

/** Takes a conversation off an agent who is away, and looks for another one by the same policy. */
async function requeue(work: Change, thread: Thread): Promise<void> {
  const { tx, now } = work;
  if (thread.assigned_to === null || thread.waiting_since === null) {
    return;
  }
  const policies = await activePolicies(tx, thread.organization_id);
  const policy = await policyOfQueue(tx, { thread, policies, now });
  // Before it is taken off: a choice locks all members that it changes, in one order.
  const decision = policy && (await decide(tx, { thread, policy }, { now, locks: true }));
  const taken = await move(work, thread, { assigned_to: null, queued_at: now.toISOString() });
  const reason = "The agent is away, and the contact waits for an answer.";
  await recordAssignment(work, taken, { assignment_type: "unassign", reason });
  if (decision) {
    await carryOut(work, [{ thread: taken, trigger: "requeue", decision }]);
  }
}

/** One run for each organization in which somebody waits. */
async function serveEverybody(world: World): Promise<void> {
  const rows = await world.database.queries
    .selectFrom("conversations")
    .select("organization_id")
    .distinct()
    .where("queued_at", "is not", null)
    .execute();
  await world.database.transaction((tx) =>
    world.jobs.enqueue(
      tx,
      ...rows.map(({ organization_id }) => ({
        name: serveQueueJob,
        payload: { organization_id },
        organization_id,
        key: `${serveQueueJob}:${organization_id}`,
        isDeduplicated: true,
      })),
    ),
  );
}
