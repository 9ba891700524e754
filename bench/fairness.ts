/**
 * How long reads of one organization take while another one causes the worst load, on both engines.
 *
 * The reading organization lists its contacts and conversations, one request after the other. Meanwhile the
 * other organization, which has 100,000 contacts, searches for common words, erases contacts, sends batches
 * of tool lists to /mcp, imports contacts, reads events from far cursors, and sends messages that 50 webhooks
 * receive, on many connections and at the rate of ten API keys. `--engine` measures one engine, `--only
 * searches,imports` a part of the load. Target: p99 at most three times the p99 of the quiet service, or 250
 * ms. About 2 minutes.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { firstInbox } from "../src/adapters/channel/index.ts";
import { startApp } from "../src/app.ts";
import { readConfig } from "../src/config/index.ts";
import { newId } from "../src/database/id.ts";
import { insertKey } from "../src/platform/account/api-keys/index.ts";
import { createOrganization } from "../src/platform/operations/bootstrap.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { allScopes } from "../tools/contract/index.ts";
import { analyze } from "./support/analyze.ts";
import { fillConversations } from "./support/fill-conversations.ts";
import { createPeopleCsv } from "./support/people-csv.ts";
import { type BenchService, startService } from "./support/service.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "20" },
    port: { type: "string", default: "3977" },
    engine: { type: "string" },
    only: { type: "string" },
  },
});
const seconds = Number(options.seconds);
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const log = { debug() {}, info() {}, warn() {}, error: console.error };
const heavyKey = `sk_live_${"h".repeat(43)}`;
const lightKey = `sk_live_${"l".repeat(43)}`;
const limit = { factor: 3, ms: 250 };

for (const engine of options.engine === undefined ? (["postgres", "embedded"] as const) : [options.engine]) {
  await measure(engine);
}

async function measure(engine: string): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-fairness-"));
  const name = `tidings_fairness_${process.pid}`;
  const isPostgres = engine === "postgres";
  if (isPostgres) {
    await runOnServer(server, `create database ${name}`);
  }
  const env = {
    TIDINGS_DATA_DIR: dataDir,
    TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true",
    // The limits of ten keys together, by default.
    TIDINGS_RATE_LIMIT: "500",
    TIDINGS_RATE_BURST: "1000",
    ...(isPostgres ? { DATABASE_URL: withDatabase(server, name) } : {}),
  };
  try {
    await fill(env);
    const service = await startService(Number(options.port), heavyKey, env);
    await compare(engine, service);
    service.child.kill("SIGKILL");
  } finally {
    if (isPostgres) {
      await runOnServer(server, `drop database ${name} with (force)`);
    }
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function fill(env: Record<string, string>): Promise<void> {
  const { config } = readConfig({ ...env, TIDINGS_BOOTSTRAP_KEY: heavyKey });
  await using app = await startApp({ config, log, listen: { host: "127.0.0.1", port: 0 }, runsJobs: false });
  const { queries } = app.database;
  const { id: organization } = await queries
    .selectFrom("organizations")
    .select("id")
    .executeTakeFirstOrThrow();
  const amounts = { conversations: 100_000, messages: 100_000, events: 100_000, responses: 1_000 };
  await fillConversations(queries, { organization, ...amounts, first: { conversations: 0, rowsEach: 0 } });
  const now = new Date();
  const light = newId("org", now);
  await app.database.transaction(async (tx) => {
    await createOrganization(tx, { id: light, name: "Light", now }, firstInbox);
    const key = { name: "light", secret_key: lightKey, scopes: allScopes, created_by: null, now };
    await insertKey(tx, { organization: light, ...key });
  });
  await analyze(queries);
}

async function compare(engine: string, { baseUrl }: BenchService): Promise<void> {
  const quiet = await readAlone(baseUrl, seconds);
  const stop = new AbortController();
  const readLoaded = async () => {
    await sleep(1_000);
    const read = await readAlone(baseUrl, seconds);
    stop.abort();
    return read;
  };
  const [counts, loaded] = await Promise.all([startLoad(baseUrl, stop.signal), readLoaded()]);
  const allowed = Math.max(limit.factor * quiet.p99, limit.ms);
  console.log(`\n${engine}`);
  console.log(
    `  quiet   p50 ${ms(quiet.p50)}, p99 ${ms(quiet.p99)}, ${quiet.count} reads, ${quiet.failed} failed`,
  );
  console.log(
    `  loaded  p50 ${ms(loaded.p50)}, p99 ${ms(loaded.p99)}, ${loaded.count} reads, ${loaded.failed} failed`,
  );
  console.log(`  allowed p99 ${ms(allowed)}: ${loaded.p99 <= allowed ? "met" : "missed"}`);
  console.log(`  the load, requests answered: ${JSON.stringify(counts)}`);
}

/** Reads as the second organization, one request after the other. */
async function readAlone(baseUrl: string, forSeconds: number) {
  const times: number[] = [];
  let failed = 0;
  const end = performance.now() + forSeconds * 1_000;
  for (let number = 0; performance.now() < end; number += 1) {
    const path = number % 2 === 0 ? "/v1/contacts" : "/v1/conversations";
    const startedAt = performance.now();
    const answer = await fetch(baseUrl + path, { headers: { "x-api-key": lightKey } });
    await answer.text();
    times.push(performance.now() - startedAt);
    failed += Number(!answer.ok);
    await sleep(10);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(Math.floor(share * times.length), times.length - 1)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), count: times.length, failed };
}

/** Runs the load until the signal aborts; returns the number of answers of each kind of request. */
async function startLoad(baseUrl: string, signal: AbortSignal): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const receiver = createServer((request, response) => request.resume().on("end", () => response.end("ok")));
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo; // it listens on a TCP port
  const call = async (path: string, init: RequestInit & { json?: unknown } = {}) => {
    const { json, ...rest } = init;
    const headers = { "x-api-key": heavyKey, "content-type": "application/json", ...rest.headers };
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const answer = await fetch(baseUrl + path, { ...rest, ...body, headers, signal });
    const text = await answer.text();
    if (answer.status === 429) {
      throw new Error("Over the rate limit");
    }
    return text;
  };
  for (let number = 0; number < 50; number += 1) {
    const json = { url: `http://127.0.0.1:${port}/${number}`, events: ["message.sent", "message.delivered"] };
    await call("/v1/webhook-subscriptions", { method: "POST", json });
  }
  const { meta } = JSON.parse(await call("/v1/events"));
  // A made-up cursor that has seen every event, and one old transaction as running.
  const far = `1:${meta.cursor.split(":")[1]}:1`;
  const kinds = Object.entries(heavyRequests(call, far)).filter(
    ([kind]) => options.only === undefined || options.only.split(",").includes(kind),
  );
  const loops = kinds.flatMap(([kind, { connections, run }]) =>
    Array.from({ length: connections }, async (_, connection) => {
      for (let number = connection; !signal.aborted; number += connections) {
        const isAnswered = await run(number).then(
          () => true,
          () => sleep(100, false),
        );
        counts[kind] = (counts[kind] ?? 0) + Number(isAnswered);
      }
    }),
  );
  await Promise.all(loops);
  receiver.closeAllConnections();
  receiver.close();
  return counts;
}

type HeavyCall = (path: string, init?: RequestInit & { json?: unknown }) => Promise<string>;

function heavyRequests(
  call: HeavyCall,
  cursor: string,
): Record<string, { connections: number; run(number: number): Promise<unknown> }> {
  const csv = [...createPeopleCsv(5_000).chunks()].join("");
  const lists = Array.from({ length: 50 }, (_, id) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/list",
    params: {},
  }));
  const accept = "application/json, text/event-stream";
  return {
    searches: {
      connections: 16,
      run: (n) => call(`/v1/contacts?search=${["co", "a t", "t c o n", "1"][n % 4]}`),
    },
    pages: { connections: 4, run: (n) => call(`/v1/contacts?page=${500 + (n % 400)}&per_page=100`) },
    events: { connections: 4, run: () => call(`/v1/events?after=${cursor}`) },
    erasures: { connections: 2, run: (n) => call(`/v1/contacts/${idOf(n + 1)}`, { method: "DELETE" }) },
    batches: {
      connections: 4,
      run: () => call("/mcp", { method: "POST", json: lists, headers: { accept } }),
    },
    messages: {
      connections: 4,
      run: (n) => {
        const json = { to: `+1415555${String(1_000 + (n % 50))}`, type: "text", text: { body: "hello" } };
        return call("/v1/messages", { method: "POST", json });
      },
    },
    imports: {
      connections: 1,
      run: async () => {
        const json = { file_name: "people.csv", content_base64: Buffer.from(csv).toString("base64") };
        const { data } = JSON.parse(await call("/v1/uploads", { method: "POST", json }));
        await call("/v1/contacts/import", { method: "POST", json: { upload_id: data.id } });
        await sleep(2_000);
      },
    },
  };
}

/** An id as `fillConversations` makes it. */
function idOf(number: number): string {
  return `con_${number.toString(16).padStart(26, "0")}`;
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
