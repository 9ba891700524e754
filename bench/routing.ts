/**
 * R10: 5,000 conversations at 200 a second for 50 agents of 10 each: capacities, the round, the weights, the waiting.
 *
 * In one process and without HTTP: what a channel hears goes in, the jobs route it, and agents close what
 * they have had for a while through the platform's own call. Three strategies in turn; in the last one the
 * agents are too slow for a while, so that many wait. On PostgreSQL; `--embedded` for the other; a number
 * for fewer conversations. Some 2 min where two cores are free.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { createDiskStorage } from "../src/adapters/storage/disk.ts";
import { noMetrics } from "../src/adapters/telemetry/off.ts";
import { createWeb } from "../src/adapters/web/index.ts";
import { rulesOf } from "../src/adapters/web/rules.ts";
import { openDatabase } from "../src/database/connect.ts";
import type { Database } from "../src/database/database.ts";
import { newId } from "../src/database/id.ts";
import { migrate } from "../src/database/migrate.ts";
import { bootstrap } from "../src/platform/bootstrap.ts";
import { createPlatform } from "../src/platform/index.ts";
import { administer, withDatabase } from "../test/support/postgres.ts";
import { analyze } from "./support/analyze.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const key = `sk_live_${"r".repeat(43)}`;
const conversations = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 5_000);
const perSecond = 200;
const agents = 50;
const capacity = 10;
const callsAtOnce = 8;
const log = { debug() {}, info() {}, warn() {}, error: console.error };

interface Run {
  readonly name: string;
  readonly strategy: "round_robin" | "weighted" | "load_balanced";
  /** How long an agent has a conversation before closing it. */
  readonly handleMs: number;
  /** Of the agent with this index. */
  weight(index: number): number;
}

const runs: readonly Run[] = [
  { name: "round robin", strategy: "round_robin", handleMs: 600, weight: () => 1 },
  { name: "weighted 1 to 5", strategy: "weighted", handleMs: 300, weight: (index) => 1 + (index % 5) },
  { name: "load balanced, agents too slow", strategy: "load_balanced", handleMs: 12_000, weight: () => 1 },
];

const isEmbedded = process.argv.includes("--embedded");
const dataDir = await mkdtemp(join(tmpdir(), "tidings-bench-"));
const name = `tidings_bench_routing_${process.pid}`;
if (!isEmbedded) {
  await administer(server, `create database ${name}`);
}
{
  const url = isEmbedded ? undefined : withDatabase(server, name);
  await using database = await openDatabase({ url, dataDir, log });
  await migrate(database);
  await measure(database);
}
if (!isEmbedded) {
  await administer(server, `drop database ${name} with (force)`);
}
await rm(dataDir, { recursive: true });

async function measure(database: Database): Promise<void> {
  const now = () => new Date();
  await bootstrap(database, { owner: { key }, localKey: undefined, now: now() });
  const stopping = new AbortController().signal;
  const platform = createPlatform({
    ...{ database, now, log, secret: "bench", previousSecret: undefined, metrics: noMetrics, stopping },
    web: createWeb({ rules: rulesOf({ allow: [], isLocalAllowed: false }) }),
    storage: createDiskStorage(dataDir),
    addresses: { service: () => "", cdn: undefined },
    openChannels: () => ({ channels: {}, jobs: [] }),
  });
  const caller = await platform.authenticate(key);
  await using jobs = platform.jobs;
  jobs.start();
  const service: Service = {
    database,
    organization: caller.organization_id,
    call: async (operation, input) =>
      (await platform.call({ operation, caller, input, signal: stopping })).body as {
        data: { id: string };
      },
    hear: (from) =>
      platform.ears.inbound({
        organization_id: caller.organization_id,
        channel_message_id: `bench-${from}`,
        from,
        to: null,
        name: null,
        content: { type: "text", text: { body: "hello" } },
        occurred_at: now().toISOString(),
      }),
  };
  for (const [index, run] of runs.entries()) {
    await perform(service, run, index);
  }
}

interface Service {
  readonly database: Database;
  readonly organization: string;
  call(operation: string, input: object): Promise<{ data: { id: string } }>;
  /** A message from this number. */
  hear(from: string): Promise<unknown>;
}

/** One strategy, with a team and agents of its own. */
async function perform({ database, organization, call, hear }: Service, run: Run, index: number) {
  const users = await hire(database, organization, index);
  const { data: team } = await call("create_team", { name: run.name, is_active: true });
  for (const user_id of users) {
    const member = { id: team.id, user_id, role: "member", max_concurrent_chats: capacity };
    await call("add_team_member", member);
  }
  const weights = Object.fromEntries(users.map((user, at) => [user, run.weight(at)]));
  const { data: policy } = await call("create_routing_policy", {
    name: run.name,
    strategy: run.strategy,
    target_type: "team",
    target_id: team.id,
    settings: { weights },
  });
  await analyze(database.queries);
  const ended = new AbortController();
  const watch = watchCapacity(database, team.id, ended.signal);
  const agentsOf = { database, team: team.id, handleMs: run.handleMs, signal: ended.signal };
  const work = closeWhatIsOld(agentsOf, (id) => call("update_conversation", { id, status: "closed" }));
  const started = performance.now();
  await write(index, hear);
  const written = performance.now() - started;
  await until(async () => (await assigned(database, team.id)).length >= conversations);
  ended.abort();
  await work;
  report(run, { written, over: await watch, users, weights, rows: await assigned(database, team.id) });
  await call("delete_routing_policy", { id: policy.id });
}

async function hire(database: Database, organization_id: string, run: number): Promise<string[]> {
  const at = new Date();
  const rows = Array.from({ length: agents }, (_, index) => ({
    organization_id,
    id: newId("usr", at),
    email: `agent-${run}-${index}@example.com`,
    name: `Agent ${index}`,
    role: "agent" as const,
    password_hash: "",
    created_at: at.toISOString(),
    updated_at: at.toISOString(),
  }));
  await database.queries.insertInto("users").values(rows).execute();
  return rows.map(({ id }) => id);
}

/** Each at its moment, while the service keeps up: a channel too has only so many calls under way. */
async function write(run: number, send: (from: string) => Promise<unknown>): Promise<void> {
  const started = performance.now();
  const calls = createCalls();
  for (let n = 0; n < conversations; n += 1) {
    const due = started + (n * 1_000) / perSecond;
    if (due > performance.now()) {
      await sleep(due - performance.now());
    }
    await calls.begin(() => send(`+1415${run + 2}${String(n).padStart(6, "0")}`));
  }
  await calls.end();
}

/** So many under way at once; the next one begins when one of them has ended. */
function createCalls() {
  const underWay = new Set<Promise<unknown>>();
  return {
    async begin(call: () => Promise<unknown>) {
      if (underWay.size >= callsAtOnce) {
        await Promise.race(underWay);
      }
      const running = call().finally(() => underWay.delete(running));
      underWay.add(running);
    },
    end: () => Promise.all(underWay),
  };
}

/** By how much a capacity was exceeded at worst, by the count and by a recount, looked at 20 times a second. */
async function watchCapacity(database: Database, team: string, signal: AbortSignal) {
  let [samples, byCount, byRecount] = [0, 0, 0];
  const look = async () => {
    const { rows } = await sql<{ counted: number; has: number }>`
      select current_chat_count as counted, (
        select count(*)::int from conversations
        where conversations.organization_id = team_members.organization_id
          and assigned_to = user_id and conversations.team_id = team_members.team_id
          and status in ('open', 'pending')
      ) as has from team_members where team_id = ${team}
    `.execute(database.queries);
    samples += 1;
    byCount = Math.max(byCount, ...rows.map(({ counted }) => counted));
    byRecount = Math.max(byRecount, ...rows.map(({ has }) => has));
    return rows.filter(({ counted, has }) => counted !== has).length;
  };
  while (!signal.aborted) {
    await look();
    await sleep(50);
  }
  return { wrong: await look(), samples, byCount, byRecount };
}

/** The agents: who has had a conversation long enough closes it. */
async function closeWhatIsOld(
  of: { database: Database; team: string; handleMs: number; signal: AbortSignal },
  close: (id: string) => Promise<unknown>,
): Promise<void> {
  const { database, team, handleMs, signal } = of;
  const closing = new Set<string>();
  const calls = createCalls();
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
    const fresh = old.filter(({ id }) => !closing.has(id));
    for (const { id } of fresh) {
      closing.add(id);
      await calls.begin(() => close(id));
    }
    await sleep(25);
  }
  await calls.end();
}

interface Assigned {
  readonly user_id: string;
  readonly waited_ms: number;
  readonly was_queued: boolean;
}

async function assigned(database: Database, team: string): Promise<Assigned[]> {
  const { rows } = await sql<Assigned>`
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

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 180_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) {
      throw new Error("Not all conversations were assigned in three minutes.");
    }
    await sleep(500);
  }
}

interface Result {
  readonly written: number;
  readonly over: Awaited<ReturnType<typeof watchCapacity>>;
  readonly users: readonly string[];
  readonly weights: Readonly<Record<string, number>>;
  readonly rows: readonly Assigned[];
}

function report({ name: what }: Run, { written, over, users, weights, rows }: Result): void {
  const counts = users.map((user) => rows.filter(({ user_id }) => user_id === user).length);
  const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  const exact = users.map((user) => (rows.length * (weights[user] ?? 1)) / total);
  const deviation = Math.max(...counts.map((count, index) => Math.abs(count - (exact[index] ?? 0))));
  const times = rows.map(({ waited_ms }) => waited_ms).sort((a, b) => a - b);
  const at = (share: number) => `${times[Math.floor(share * times.length)]?.toFixed(0)} ms`;
  console.log(`\n${what}: ${rows.length} assigned, written in ${(written / 1_000).toFixed(1)} s`);
  line("most conversations of one agent", `${over.byRecount} of ${capacity} (count ${over.byCount})`);
  line("  in how many looks", `${over.samples}, at the end ${over.wrong} counts wrong`);
  line("spread of the round", `${Math.max(...counts) - Math.min(...counts)}`);
  line("furthest from the exact share", deviation.toFixed(2));
  line("from the message to the agent", `p50 ${at(0.5)}, p95 ${at(0.95)}`);
  line("waited in the queue", `${rows.filter(({ was_queued }) => was_queued).length}`);
}

function line(what: string, value: string): void {
  console.log(`  ${what.padEnd(36)}${value}`);
}
