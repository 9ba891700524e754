/**
 * The load of the routing benchmark: contacts that write, agents that close conversations, and measurements.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.ts";

const concurrentCalls = 8;

export interface MessageRate {
  readonly count: number;
  readonly perSecond: number;
}

/** Sends messages at an even rate, at most 8 at a time: a real channel also limits concurrent calls. */
export async function sendMessages(
  { count, perSecond }: MessageRate,
  send: (index: number) => Promise<unknown>,
): Promise<void> {
  const startedAt = performance.now();
  const calls = createCallLimit();
  for (let index = 0; index < count; index += 1) {
    const dueAt = startedAt + (index * 1_000) / perSecond;
    if (dueAt > performance.now()) {
      await sleep(dueAt - performance.now());
    }
    await calls.start(() => send(index));
  }
  await calls.finish();
}

function createCallLimit() {
  const running = new Set<Promise<unknown>>();
  return {
    /** Waits until fewer than the limit are running. */
    async start(call: () => Promise<unknown>) {
      if (running.size >= concurrentCalls) {
        await Promise.race(running);
      }
      const started = call().finally(() => running.delete(started));
      running.add(started);
    },
    finish: () => Promise.all(running),
  };
}

export interface Agents {
  readonly database: Database;
  readonly team: string;
  /** How long an agent has a conversation before closing it. */
  readonly handleMs: number;
  readonly signal: AbortSignal;
}

/** Closes assigned conversations after `handleMs`, until the signal aborts. */
export async function closeConversations(
  { database, team, handleMs, signal }: Agents,
  close: (id: string) => Promise<unknown>,
): Promise<void> {
  const closing = new Set<string>();
  const calls = createCallLimit();
  while (!signal.aborted) {
    const before = new Date(Date.now() - handleMs).toISOString();
    const old = await database.queries
      .selectFrom("conversations")
      .select("id")
      .where("team_id", "=", team)
      .where("status", "=", "open")
      .where("assigned_to", "is not", null)
      .where("updated_at", "<=", before)
      .execute();
    for (const { id } of old.filter((conversation) => !closing.has(conversation.id))) {
      closing.add(id);
      await calls.start(() => close(id));
    }
    await sleep(25);
  }
  await calls.finish();
}

export interface CapacityReport {
  readonly samples: number;
  /** The most conversations of one agent, by the stored count and by counting the conversations. */
  readonly maxStored: number;
  readonly maxCounted: number;
  /** Stored counts that are wrong at the end. */
  readonly wrongCounts: number;
}

/** Samples the agents' conversations 20 times a second, until the signal aborts. */
export async function watchCapacity(
  database: Database,
  team: string,
  signal: AbortSignal,
): Promise<CapacityReport> {
  let [samples, maxStored, maxCounted] = [0, 0, 0];
  const sample = async () => {
    const { rows } = await sql<{ stored: number; counted: number }>`
      select current_chat_count as stored, (
        select count(*)::int from conversations
        where conversations.organization_id = team_members.organization_id
          and assigned_to = user_id and conversations.team_id = team_members.team_id
          and status in ('open', 'pending')
      ) as counted from team_members where team_id = ${team}
    `.execute(database.queries);
    samples += 1;
    maxStored = Math.max(maxStored, ...rows.map(({ stored }) => stored));
    maxCounted = Math.max(maxCounted, ...rows.map(({ counted }) => counted));
    return rows.filter(({ stored, counted }) => stored !== counted).length;
  };
  while (!signal.aborted) {
    await sample();
    await sleep(50);
  }
  const wrongCounts = await sample();
  return { wrongCounts, samples, maxStored, maxCounted };
}

export interface Assignment {
  readonly user_id: string;
  /** The time from the message to the assignment. */
  readonly waited_ms: number;
  readonly was_queued: boolean;
}

export async function listAssignments(database: Database, team: string): Promise<Assignment[]> {
  const { rows } = await sql<Assignment>`
    select assignments.assigned_to as user_id,
      extract(epoch from assignments.created_at - conversations.created_at)::float8 * 1000 as waited_ms,
      exists (
        select from routing_decisions
        where routing_decisions.organization_id = conversations.organization_id
          and conversation_id = conversations.id and outcome = 'queued'
      ) as was_queued
    from assignments join conversations on conversations.organization_id = assignments.organization_id
      and conversations.id = assignments.conversation_id
    where assignments.team_id = ${team} and assignments.assigned_to is not null
  `.execute(database.queries);
  return rows;
}
