/**
 * Serves the queue: assigns waiting conversations to free agents, the longest waiting first.
 *
 * A run looks at a bounded number of conversations, some in each transaction, and stops as soon as no agent
 * is free. A conversation that it can't assign (it needs another skill or another team) keeps its position.
 * Runs of one organization follow each other.
 */
import { sql } from "kysely";
import { z } from "zod";
import { ofOrganization } from "../../../../database/query/index.ts";
import { type NewJob, newJob } from "../../../../jobs/job.ts";
import { type Change, defineJob, system, type Transaction } from "../../../foundation/kernel/index.ts";
import {
  activePolicies,
  decideFromSnapshot,
  policyForQueued,
  type RoutingRequest,
  readFacts,
  readRoutingSnapshot,
  reserveAgent,
} from "../../routing/index.ts";
import { countFreeCapacity } from "../../teams/index.ts";
import { type ApplicableDecision, applyDecisions } from "../apply-decisions.ts";
import type { ConversationRow } from "../find/index.ts";

/** Where the next transaction or the next run continues. */
interface QueuePosition {
  readonly queued_at: string;
  readonly id: string;
}

/** Conversations in one run: a few seconds of work, so that other jobs of the lane can start. */
const maxPerRun = 100;
/** Conversations in one transaction, which keeps the members locked until it commits. */
const maxPerTransaction = 20;

export const serveQueueJob = defineJob({
  name: "queue.serve",
  payload: z.object({
    organization_id: z.string(),
    /** Where the previous run stopped; a run without it starts at the front. */
    after: z.object({ queued_at: z.string(), id: z.string() }).optional(),
  }),

  async run({ organization_id, after }, world) {
    const position = await serveSome(after, (next) =>
      world.database.transaction((tx) =>
        serveNext({ tx, world, now: world.now(), actor: system }, organization_id, next),
      ),
    );
    if (position === undefined) {
      return undefined;
    }
    const payload = { organization_id, after: position };
    await world.database.transaction((tx) =>
      tx.enqueue([newJob(serveQueueJob, payload, { key: serveQueueKey(organization_id) })]),
    );
    return undefined;
  },
});

interface Next {
  readonly after: QueuePosition | undefined;
  readonly unservable: Set<string>;
}

/**
 * Serves up to `maxPerRun` conversations.
 * @returns where to go on; undefined at the end, or when no agent is free.
 */
async function serveSome(
  after: QueuePosition | undefined,
  serve: (next: Next) => Promise<readonly ConversationRow[]>,
): Promise<QueuePosition | undefined> {
  const unservable = new Set<string>();
  let position = after;
  for (let count = 0; count < maxPerRun; ) {
    const conversations = await serve({ after: position, unservable });
    const last = conversations.at(-1);
    if (!last) {
      return undefined;
    }
    position = { queued_at: last.queued_at ?? "", id: last.id };
    count += conversations.length;
  }
  return position;
}

/** Serves the queue in the transaction of a change, and goes on after its commit. */
export async function serveQueueNow(change: Change, organization: string): Promise<void> {
  await serveSome(undefined, (next) => serveNext({ ...change, actor: system }, organization, next));
  await serveQueueIfWaiting(change, organization);
}

/**
 * The job that serves an organization's queue from its front; runs of one organization follow each other.
 * Not added while one waits to start.
 */
export function createServeQueueJob(organization_id: string): NewJob {
  return newJob(
    serveQueueJob,
    { organization_id },
    { key: serveQueueKey(organization_id), isDeduplicated: true },
  );
}

/** Enqueues a run after the commit; does nothing while the queue is empty. */
export async function serveQueueIfWaiting({ tx }: Change, organization: string): Promise<void> {
  const { rows } = await sql`
    select from conversations where organization_id = ${organization} and queued_at is not null limit 1
  `.execute(tx);
  if (rows.length > 0) {
    await tx.enqueue([createServeQueueJob(organization)]);
  }
}

function serveQueueKey(organization_id: string): string {
  return `queue.serve:${organization_id}`;
}

interface QueuedRequest extends RoutingRequest {
  readonly conversation: ConversationRow;
}

/**
 * Serves the next conversations of the queue, at most as many as the agents can take. Returns the
 * conversations that were looked at: none at the end of the queue or when no agent is free.
 */
async function serveNext(
  change: Change,
  organization: string,
  { after, unservable }: Next,
): Promise<ConversationRow[]> {
  const { tx, world, now } = change;
  const limit = Math.min(await countAssignable(change, organization), maxPerTransaction);
  const conversations = limit > 0 ? await lockNextQueued(change, organization, { after, limit }) : [];
  const policies = await activePolicies(tx, organization);
  const facts = await readFacts({ db: tx, world }, conversations, policies);
  const requests: QueuedRequest[] = [];
  for (const conversation of conversations) {
    const policy = await policyForQueued({ db: tx, world }, { conversation, policies, now, facts });
    if (policy && !unservable.has(requestKey({ conversation, policy }))) {
      requests.push({ conversation, policy });
    }
  }
  if (requests.length > 0) {
    await serveInOrder(change, organization, { requests, unservable });
  }
  return conversations;
}

/**
 * Serves the requests one after the other. Adds the key of a request to `unservable` if no
 * agent is free for it.
 */
async function serveInOrder(
  change: Change,
  organization: string,
  { requests, unservable }: { requests: readonly QueuedRequest[]; unservable: Set<string> },
): Promise<void> {
  const { tx, now } = change;
  const snapshot = await readRoutingSnapshot(tx, requests, { organization, now, locks: true });
  const records: ApplicableDecision[] = [];
  for (const request of requests) {
    const key = requestKey(request);
    const decision = unservable.has(key) ? undefined : decideFromSnapshot(snapshot, request);
    if (decision && decision.assigned_to !== null) {
      reserveAgent(snapshot, request, decision);
      records.push({ conversation: request.conversation, trigger: "capacity", decision });
    } else {
      unservable.add(key);
    }
  }
  await applyDecisions(change, records);
}

/**
 * Equal for requests that need the same agents: if no agent is free for the first, none is free for the next.
 */
function requestKey({ conversation, policy }: RoutingRequest): string {
  const skills = conversation.tags.filter((tag) => tag.startsWith("skill:"));
  return [policy.id, policy.target_id, ...skills].join(" ");
}

/** How many more conversations may get an agent. Users in no active team have no capacity limit. */
async function countAssignable({ tx, now }: Change, organization: string): Promise<number> {
  const capacity = await countFreeCapacity(tx, organization, now);
  return capacity > 0 || !(await hasUncappedTarget(tx, organization)) ? capacity : maxPerTransaction;
}

/** Whether the target of a policy is a user in no active team, who therefore has no capacity limit. */
async function hasUncappedTarget(tx: Transaction, organization: string): Promise<boolean> {
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

/**
 * Locks the longest waiting conversations after the position, without the conversations that another
 * transaction is changing.
 */
async function lockNextQueued(
  { tx }: Change,
  organization: string,
  { after, limit }: { after: QueuePosition | undefined; limit: number },
): Promise<ConversationRow[]> {
  return ofOrganization(tx, organization)
    .selectFrom("conversations")
    .selectAll()
    .where("queued_at", "is not", null)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(queued_at, id) > (${after?.queued_at}::timestamptz, ${after?.id})`),
    )
    .orderBy("queued_at")
    .orderBy("id")
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
}
