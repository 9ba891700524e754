/**
 * R13: three processes on PostgreSQL, two of them with wrong clocks, or one of them frozen.
 *
 * They get sends, a paced broadcast and flows with waits. Then the benchmark checks that nothing was lost or
 * sent twice, and that the inbox's rate was kept.
 *
 * `--skews 15,35,90` seconds, ahead in one process and behind in another; `--freezes 16,40` seconds;
 * `--program dist/tidings.js`. Wrong clocks need libfaketime (Debian's package faketime).
 */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { type Client, createClient } from "../src/client/index.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { auth } from "../tools/auth.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { flows } from "../tools/flows/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { prepareBroadcast } from "./support/broadcasts/campaign.ts";
import { type BenchService, startProgram } from "./support/service.ts";

const { values: options } = parseArgs({
  options: {
    skews: { type: "string", default: "15,35,90" },
    freezes: { type: "string", default: "16,40" },
    program: { type: "string", default: "dist/tidings.js" },
  },
});
const library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const key = `sk_live_${"k".repeat(43)}`;
const firstPort = 39_521;
/** The inbox's rate in messages a second. */
const rate = 10;
const amounts = { recipients: 150, sends: 120, flows: 25 };
const answerMs = 400;
const settleMs = 180_000;

interface Scenario {
  readonly name: string;
  /** By how many seconds the clock of each process is off. */
  readonly skews: readonly number[];
  /** For how many seconds the last process is frozen, twice. */
  readonly freeze: number;
}

const numbers = (list: string) => list.split(",").filter(Boolean).map(Number);
const scenarios: readonly Scenario[] = [
  ...numbers(options.skews).map((by) => ({ name: `clocks ${by} s off`, skews: [0, by, -by], freeze: 0 })),
  ...numbers(options.freezes).map((by) => ({ name: `frozen for ${by} s`, skews: [0, 0, 0], freeze: by })),
];
if (scenarios.some(({ skews }) => skews.some(Boolean)) && !existsSync(library)) {
  throw new Error(`Install libfaketime: ${library} does not exist.`);
}
for (const scenario of scenarios) {
  await run(scenario);
}

async function run(scenario: Scenario): Promise<void> {
  const name = `tidings_clocks_${process.pid}`;
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-clocks-"));
  await runOnServer(server, `create database ${name}`);
  const database = new pg.Client({ connectionString: withDatabase(server, name) });
  const services: BenchService[] = [];
  try {
    for (const [index, skew] of scenario.skews.entries()) {
      const env = {
        DATABASE_URL: withDatabase(server, name),
        TIDINGS_DATA_DIR: dataDir,
        ...wrongClock(skew),
      };
      services.push(await startProgram(options.program, { port: firstPort + index, key, env }));
    }
    await database.connect();
    await work(scenario, services, database);
  } finally {
    for (const { child } of services) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    await database.end();
    await runOnServer(server, `drop database ${name} with (force)`);
    await rm(dataDir, { recursive: true });
  }
}

/** Only the time of day is wrong: timers and the monotonic clock are correct. */
function wrongClock(seconds: number): Record<string, string> {
  return seconds === 0
    ? {}
    : {
        LD_PRELOAD: library,
        FAKETIME: `${seconds > 0 ? "+" : ""}${seconds}s`,
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
      };
}

async function work(
  scenario: Scenario,
  services: readonly BenchService[],
  database: pg.Client,
): Promise<void> {
  const clients = services.map(({ baseUrl }) => createClient({ baseUrl, key, timeoutMs: 120_000 }));
  const [first] = clients;
  if (!first) {
    throw new Error("No process runs.");
  }
  const organization = (await first.call(auth.whoami, {})).data.organization.id;
  const url = `postgres://${database.user}@${database.host}:${database.port}/${database.database}`;
  const broadcast = await prepareBroadcast(first, { url, organization, contacts: amounts.recipients });
  await limitInbox(first);
  await request(services[0], "PUT", "/simulator/faults", { accept_delay_ms: answerMs });
  await createFlow(first);
  await first.call(broadcasts.execute_broadcast, { id: broadcast });
  await Promise.all([send(clients), startFlows(services), freeze(scenario, services)]);
  await settle(database);
  await report(scenario, database);
  await Promise.all(clients.map((client) => client.close()));
}

async function limitInbox(client: Client): Promise<void> {
  const [inbox] = (await client.call(inboxes.list_inboxes, {})).data;
  if (inbox) {
    await client.call(inboxes.update_inbox, { id: inbox.id, settings: { messages_per_second: rate } });
  }
}

async function createFlow(client: Client): Promise<void> {
  await client.call(flows.create_flow, {
    name: "Wait",
    end_action_type: "none",
    trigger_type: "keyword",
    trigger_keyword: "start",
    trigger_match: "exact",
    nodes: [
      { id: "one", node_type: "send_message", parent_node_id: null, action_config: { text: "One" } },
      { id: "wait", node_type: "wait", parent_node_id: "one", action_config: { duration: "10s" } },
      { id: "two", node_type: "send_message", parent_node_id: "wait", action_config: { text: "Two" } },
    ],
  });
}

/** Sends the messages through the processes in turn. */
async function send(clients: readonly Client[]): Promise<void> {
  for (let number = 0; number < amounts.sends; number += 1) {
    const to = `+1415777${String(number).padStart(4, "0")}`;
    const client = clients[number % 2];
    await client?.call(messages.send_message, { to, type: "text", text: { body: "Hello" } });
    await sleep(100);
  }
}

async function startFlows(services: readonly BenchService[]): Promise<void> {
  for (let number = 0; number < amounts.flows; number += 1) {
    const from = `+1415888${String(number).padStart(4, "0")}`;
    await request(services[number % 2], "POST", "/simulator/inbound", { from, text: "start" });
    await sleep(400);
  }
}

async function freeze({ freeze: seconds }: Scenario, services: readonly BenchService[]): Promise<void> {
  const child = services.at(-1)?.child;
  for (let times = 0; times < 2 && seconds > 0; times += 1) {
    await sleep(4_000);
    child?.kill("SIGSTOP");
    await sleep(seconds * 1_000);
    child?.kill("SIGCONT");
  }
}

async function request(service: BenchService | undefined, method: string, path: string, body: object) {
  const response = await fetch(`${service?.baseUrl}${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) {
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  }
}

/** Waits until no message is queued and each flow has ended. */
async function settle(database: pg.Client): Promise<void> {
  const end = performance.now() + settleMs;
  const open = `select (select count(*) from messages where status in ('queued', 'sending')) +
    (select count(*) from flow_runs where ended_at is null) +
    (select count(*) from broadcasts where execution_status = 'processing') as count`;
  while (performance.now() < end) {
    const { rows } = await database.query(open);
    if (Number(rows[0].count) === 0) {
      return;
    }
    await sleep(500);
  }
}

async function report({ name }: Scenario, database: pg.Client): Promise<void> {
  const count = async (query: string) => Number((await database.query(query)).rows[0].count);
  const written = amounts.recipients + amounts.sends + 2 * amounts.flows;
  const outbound = "from simulator_messages where direction = 'outbound'";
  const sent = await count(`select count(distinct token) ${outbound}`);
  const doubled = await count(
    `select count(*) from (select token ${outbound} group by token having count(*) > 1) as doubled`,
  );
  const fastest = await count(
    `select coalesce(max(count), 0) as count from (
      select count(*) over (order by created_at range between interval '999 milliseconds' preceding and current row)
      ${outbound}
    ) as windows`,
  );
  console.log(
    `${name}: ${sent} of ${written} sent, ${written - sent} lost, ${doubled} doubled, at most ${fastest} of ${rate} in a second`,
  );
  if (sent < written || doubled > 0 || fastest > rate) {
    process.exitCode = 1;
  }
}
