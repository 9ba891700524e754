/**
 * Flows on PostgreSQL: 1,000 contacts start a flow within 10 s.
 *
 * Measures the time to the first answer, and the statements for each step. With `--kills 100` the service is
 * killed -9 that often while runs of 12 nodes are in progress: each message must arrive once, and each run
 * must end. `--contacts 1000`.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { flows } from "../tools/flows/index.ts";
import { quantile } from "./support/load.ts";
import { createPersistentClient } from "./support/persistent.ts";
import { costBetween, metricsToken, readCounters } from "./support/pool-counters.ts";
import { type BenchService, pollUntil, startService } from "./support/service.ts";

const { values: options } = parseArgs({
  options: { contacts: { type: "string", default: "1000" }, kills: { type: "string", default: "0" } },
});
const [contacts, kills] = [Number(options.contacts), Number(options.kills)];
const windowMs = 10_000;
/**
 * The number of runs that are started before each kill, and the longest time from then until the kill, which
 * is random.
 */
const [runsPerKill, killWithinMs] = [5, 400];

/** Twelve nodes. Six of them send a message. */
const chain = [
  { node_type: "send_message", action_config: { text: "Message 1" } },
  { node_type: "add_tag", action_config: { tag: "one" } },
  { node_type: "send_message", action_config: { text: "Message 2" } },
  { node_type: "set_attribute", action_config: { name: "step", value: 4 } },
  { node_type: "send_message", action_config: { text: "Message 3" } },
  { node_type: "remove_tag", action_config: { tag: "one" } },
  { node_type: "send_message", action_config: { text: "Message 4" } },
  { node_type: "add_tag", action_config: { tag: "two", on: "conversation" } },
  { node_type: "send_message", action_config: { text: "Message 5" } },
  { node_type: "set_attribute", action_config: { name: "step", value: 10 } },
  { node_type: "send_message", action_config: { text: "Message 6" } },
  { node_type: "end" },
] as const;

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = `tidings_flows_${process.pid}`;
const url = withDatabase(server, name);
const key = `sk_live_${"f".repeat(43)}`;
const dataDir = await mkdtemp(join(tmpdir(), "tidings-flows-"));
const port = 39_491;

await runOnServer(server, `create database ${name}`);
const start = () =>
  startService(port, key, {
    DATABASE_URL: url,
    TIDINGS_DATA_DIR: dataDir,
    TIDINGS_METRICS_TOKEN: metricsToken,
  });
let service: BenchService = await start();
const client = createPersistentClient(service.baseUrl, key);
const database = new pg.Client({ connectionString: url });
await database.connect();
try {
  await (kills > 0 ? killBetweenSteps() : measureAnswers());
} finally {
  await client.close();
  await database.end();
  service.child.kill("SIGKILL");
  await once(service.child, "exit");
  await runOnServer(server, `drop database ${name} with (force)`);
  await rm(dataDir, { recursive: true });
}

async function measureAnswers(): Promise<void> {
  await client.call(flows.create_flow, {
    name: "Offers",
    trigger_type: "keyword",
    trigger_keyword: "offer",
    end_action_type: "none",
    nodes: [
      { id: "hello", node_type: "send_message", action_config: { text: "Hello {{contact.name}}!" } },
      { id: "tag", node_type: "add_tag", parent_node_id: "hello", action_config: { tag: "offer" } },
      {
        id: "mail",
        node_type: "ask",
        parent_node_id: "tag",
        action_config: { text: "Where may we send it?", save_as: "mail" },
      },
    ],
  });
  await Promise.all(phones(200).map((phone) => write(phone, "Hello")));
  await untilIdle();
  await runOnServer(url, "vacuum analyze");
  const before = await readCounters(service.baseUrl);
  const writing = phones(contacts).map(async (phone, index) => {
    await sleep((index * windowMs) / contacts);
    await write(phone, "I want an offer");
  });
  await Promise.all(writing);
  await pollUntil(async () => (await count("flow_runs where status = 'waiting'")) === contacts);
  await untilIdle();
  const steps = await count("flow_run_steps");
  const {
    statements = 0,
    waits = 0,
    cpuMs,
  } = costBetween(before, await readCounters(service.baseUrl), steps);
  const { rows } = await database.query<{ ms: number }>(
    `select extract(epoch from min(answer.created_at) - max(inbound.created_at))::float8 * 1000 as ms
     from simulator_messages inbound join simulator_messages answer using (organization_id, phone_number)
     where inbound.direction = 'inbound' and inbound.content -> 'text' ->> 'body' like '%offer%' and answer.direction = 'outbound'
     group by phone_number order by ms`,
  );
  const at = (share: number) => quantile({ times: rows.map(({ ms }) => ms) }, share).toFixed(0);
  console.log(
    `${contacts} contacts in ${windowMs / 1_000} s, ${rows.length} answered: first answer at the channel p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms`,
  );
  console.log(
    `${steps} steps: ${statements.toFixed(1)} statements, ${waits.toFixed(1)} waits and ${cpuMs.toFixed(1)} ms CPU each, with the messages received and delivered`,
  );
}

async function killBetweenSteps(): Promise<void> {
  const nodes = chain.map((node, index) => ({
    id: `n${index}`,
    ...node,
    ...(index === 0 ? {} : { parent_node_id: `n${index - 1}` }),
  }));
  const { data: flow } = await client.call(flows.create_flow, {
    name: "Chain",
    trigger_type: "keyword",
    trigger_keyword: "chain",
    end_action_type: "resolve",
    nodes,
  });
  const runs = kills * runsPerKill;
  const conversations = await Promise.all(phones(runs).map((phone) => write(phone, "Hello")));
  for (let kill = 0; kill < kills; kill += 1) {
    const started = conversations
      .slice(kill * runsPerKill, (kill + 1) * runsPerKill)
      .map((conversation_id) =>
        client.call(
          flows.trigger_flow,
          { id: flow.id, conversation_id },
          { idempotencyKey: conversation_id },
        ),
      );
    await Promise.race([Promise.all(started), sleep(killWithinMs)]);
    await sleep(Math.random() * killWithinMs);
    service.child.kill("SIGKILL");
    await once(service.child, "exit");
    service = await start();
    await Promise.all(started);
  }
  await pollUntil(async () => (await count("flow_runs where ended_at is not null")) === runs);
  await untilIdle();
  const { rows } = await database.query<{ phones: number; messages: number; distinct: number }>(
    `select count(distinct phone_number)::int as phones, count(*)::int as messages,
       count(distinct (phone_number, content -> 'text' ->> 'body'))::int as distinct
     from simulator_messages where direction = 'outbound'`,
  );
  const [{ messages, distinct } = { messages: 0, distinct: 0 }] = rows;
  const kinds = await count("(select distinct count(*) from flow_run_steps group by run_id) as counts");
  console.log(
    `${runs} runs of ${chain.length} nodes, ${kills} kills: ${await count("flow_runs where status = 'completed'")} completed, ${kinds} different numbers of steps; ${runs * 6 - distinct} messages missing, ${messages - distinct} doubled`,
  );
}

function phones(many: number): string[] {
  return Array.from({ length: many }, (_, index) => `+1415${String(5_000_000 + index)}`);
}

/** @returns the conversation. */
async function write(from: string, text: string): Promise<string> {
  const answer = await fetch(`${service.baseUrl}/simulator/inbound`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({ from, text }),
  });
  if (!answer.ok) {
    throw new Error(await answer.text());
  }
  const { data } = (await answer.json()) as { data: { conversation_id: string } }; // as the control answers
  return data.conversation_id;
}

/** Waits until every message has been delivered. */
async function untilIdle(): Promise<void> {
  await pollUntil(
    async () =>
      (await count(
        "messages where direction = 'outbound' and status not in ('delivered', 'read', 'failed')",
      )) === 0,
  );
}

/** Counts rows. */
async function count(rows: string): Promise<number> {
  const result = await database.query<{ count: number }>(`select count(*)::int as count from ${rows}`);
  return result.rows[0]?.count ?? 0;
}
