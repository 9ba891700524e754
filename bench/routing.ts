/**
 * R10: routing 5,000 conversations to 50 agents: capacity, distribution, weights, waiting time.
 *
 * Conversations begin at 200 a second, and each agent may have 10. In one process and without HTTP: jobs
 * route inbound messages, and agents close conversations after a while through the platform. Three strategies
 * in turn; with the last one the agents are too slow, so that many conversations wait. On PostgreSQL, or with
 * `--embedded` on the embedded database; a number sets the number of conversations. About 2 min with two free
 * cores.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { firstInbox } from "../src/adapters/channel/index.ts";
import { openCountries } from "../src/adapters/countries/index.ts";
import { openDocumentReader } from "../src/adapters/documents/index.ts";
import { openImageScaler } from "../src/adapters/images/index.ts";
import { openModels } from "../src/adapters/models/index.ts";
import { openPatternMatcher } from "../src/adapters/patterns/index.ts";
import { createDiskStorage } from "../src/adapters/storage/disk.ts";
import { noMetrics } from "../src/adapters/telemetry/off.ts";
import { createWeb } from "../src/adapters/web/index.ts";
import { createWebRules } from "../src/adapters/web/rules.ts";
import { readConfig } from "../src/config/index.ts";
import { openDatabase } from "../src/database/connect.ts";
import type { Database } from "../src/database/database.ts";
import { newId } from "../src/database/id.ts";
import { migrate } from "../src/database/migrate.ts";
import { createPlatform } from "../src/platform/index.ts";
import { bootstrap } from "../src/platform/operations/bootstrap.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { analyze } from "./support/analyze.ts";
import {
  type Assignment,
  type CapacityReport,
  closeConversations,
  listAssignments,
  sendMessages,
  watchCapacity,
} from "./support/routing-load.ts";
import { unreachablePayments } from "./support/unreachable-payments.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const key = `sk_live_${"r".repeat(43)}`;
const conversations = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 5_000);
const perSecond = 200;
const agents = 50;
const capacity = 10;
const log = { debug() {}, info() {}, warn() {}, error: console.error };
const CreatedAnswer = z.object({ data: z.object({ id: z.string() }) });

interface Run {
  readonly name: string;
  readonly strategy: "round_robin" | "weighted" | "load_balanced";
  /** How long an agent has a conversation before closing it. */
  readonly handleMs: number;
  /** The weight of the agent with this index. */
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
  await runOnServer(server, `create database ${name}`);
}
{
  const url = isEmbedded ? undefined : withDatabase(server, name);
  await using database = await openDatabase({ url, dataDir, log });
  await migrate(database);
  await measure(database);
}
if (!isEmbedded) {
  await runOnServer(server, `drop database ${name} with (force)`);
}
await rm(dataDir, { recursive: true });

async function measure(database: Database): Promise<void> {
  const now = () => new Date();
  const secrets = await bootstrap(database, {
    owner: { key },
    firstInbox,
    localKey: undefined,
    now: now(),
    secrets: { secret: undefined, previousSecret: undefined },
    sealed: { columns: [], isSecretLost: false, log },
  });
  const stopping = new AbortController().signal;
  const { config } = readConfig({});
  const platform = createPlatform({
    ...secrets,
    database,
    now,
    sandbox: undefined,
    log,
    traceparent: () => undefined,
    metrics: noMetrics,
    stopping,
    web: createClosedWeb(),
    receivers: createClosedWeb(),
    firstInbox,
    hiddenBy: () => undefined,
    assistantCommand: null,
    storage: createDiskStorage(dataDir),
    erasureLog: undefined,
    addresses: { service: () => "", isPublic: false, cdn: undefined },
    quotas: config.quotas,
    retention: config.retention,
    wallet: config.wallet,
    countries: await openCountries(config.countries),
    ...openModels(config.models),
    documents: openDocumentReader(),
    images: openImageScaler(),
    patterns: openPatternMatcher(),
    openChannels: () => ({ channels: {}, payments: unreachablePayments, jobs: [] }),
  });
  const caller = await platform.authenticate(key);
  await using jobs = platform.jobs;
  jobs.start();
  const service: Service = {
    database,
    organization: caller.organization_id,
    call: async (operation, input) =>
      (await platform.call({ operation, caller, input, signal: stopping })).body,
    receiveMessage: (from) =>
      platform.callbacks.onMessage({
        organization_id: caller.organization_id,
        channel: "simulator",
        channel_message_id: `bench-${from}`,
        from: { phone: from },
        to: null,
        name: null,
        content: { type: "text", text: { body: "hello" } },
        occurred_at: now().toISOString(),
      }),
  };
  for (const [index, run] of runs.entries()) {
    await measureStrategy(service, run, index);
  }
}

interface Service {
  readonly database: Database;
  readonly organization: string;
  call(operation: string, input: object): Promise<unknown>;
  /** Delivers an inbound message from this number. */
  receiveMessage(from: string): Promise<unknown>;
}

/** Measures one strategy, with its own team and agents. */
async function measureStrategy(service: Service, run: Run, index: number) {
  const { database, organization, call, receiveMessage } = service;
  const users = await createAgents(database, organization, index);
  const { data: team } = CreatedAnswer.parse(await call("create_team", { name: run.name, is_active: true }));
  for (const user_id of users) {
    const member = { id: team.id, user_id, role: "member", max_concurrent_chats: capacity };
    await call("add_team_member", member);
  }
  const weights = Object.fromEntries(users.map((user, at) => [user, run.weight(at)]));
  const newPolicy = { name: run.name, strategy: run.strategy, settings: { weights } };
  const target = { target_type: "team", target_id: team.id };
  const created = await call("create_routing_policy", { ...newPolicy, ...target });
  const { data: policy } = CreatedAnswer.parse(created);
  await analyze(database.queries);
  const ended = new AbortController();
  const options = { database, team: team.id, handleMs: run.handleMs, signal: ended.signal };
  const send = async () => {
    const startedAt = performance.now();
    await sendMessages({ count: conversations, perSecond }, (n) =>
      receiveMessage(`+1415${index + 2}${String(n).padStart(6, "0")}`),
    );
    const sendMs = performance.now() - startedAt;
    await waitUntil(async () => (await listAssignments(database, team.id)).length >= conversations);
    ended.abort();
    return sendMs;
  };
  const [sendMs, capacityReport] = await Promise.all([
    send(),
    watchCapacity(database, team.id, ended.signal),
    closeConversations(options, (id) => call("update_conversation", { id, status: "closed" })),
  ]);
  const assignments = await listAssignments(database, team.id);
  report(run, { sendMs, capacityReport, users, weights, assignments });
  await call("delete_routing_policy", { id: policy.id });
}

async function createAgents(database: Database, organization_id: string, run: number): Promise<string[]> {
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

async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 180_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) {
      throw new Error("Not all conversations were assigned in three minutes.");
    }
    await sleep(500);
  }
}

interface Result {
  readonly sendMs: number;
  readonly capacityReport: CapacityReport;
  readonly users: readonly string[];
  readonly weights: Readonly<Record<string, number>>;
  readonly assignments: readonly Assignment[];
}

function report(run: Run, { sendMs, capacityReport, users, weights, assignments }: Result): void {
  const { maxStored, maxCounted, samples, wrongCounts } = capacityReport;
  const counts = users.map((user) => assignments.filter(({ user_id }) => user_id === user).length);
  const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  const exact = users.map((user) => (assignments.length * (weights[user] ?? 1)) / total);
  const deviation = Math.max(...counts.map((count, index) => Math.abs(count - (exact[index] ?? 0))));
  const times = assignments.map(({ waited_ms }) => waited_ms).sort((a, b) => a - b);
  const at = (share: number) => `${times[Math.floor(share * times.length)]?.toFixed(0)} ms`;
  console.log(`\n${run.name}: ${assignments.length} assigned, sent in ${(sendMs / 1_000).toFixed(1)} s`);
  printRow("most conversations of one agent", `${maxCounted} of ${capacity} (stored count ${maxStored})`);
  printRow("  samples", `${samples}, ${wrongCounts} wrong counts at the end`);
  printRow("difference between most and fewest", `${Math.max(...counts) - Math.min(...counts)}`);
  printRow("largest deviation from the share", deviation.toFixed(2));
  printRow("from message to assignment", `p50 ${at(0.5)}, p95 ${at(0.95)}`);
  printRow("waited in the queue", `${assignments.filter(({ was_queued }) => was_queued).length}`);
}

function printRow(label: string, value: string): void {
  console.log(`  ${label.padEnd(36)}${value}`);
}

function createClosedWeb() {
  return createWeb({ rules: createWebRules({ allow: [], isLocalAllowed: false }) });
}
