/**
 * The chatbot on PostgreSQL, over two processes that are killed -9 in turn while it answers: `--kills 20`.
 *
 * Contacts write before each kill. Every message must be answered once, and metered once by the add-on.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { billing } from "../tools/billing.ts";
import { chatbot } from "../tools/chatbot.ts";
import { inboxes } from "../tools/inboxes.ts";
import { knowledgeBase } from "../tools/knowledge-base/index.ts";
import { createPersistentClient } from "./support/persistent.ts";
import { type BenchService, pollUntil, startService } from "./support/service.ts";

const { values: options } = parseArgs({ options: { kills: { type: "string", default: "20" } } });
const kills = Number(options.kills);
/**
 * The number of contacts that write before each kill, and the longest time from then until the kill, which is
 * random.
 */
const [contactsPerKill, killWithinMs] = [10, 600];

const question = "What are your opening hours?";
const answer = "Monday to Friday, 9 to 17.";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = `tidings_chatbot_${process.pid}`;
const url = withDatabase(server, name);
const key = `sk_live_${"c".repeat(43)}`;
const dataDir = await mkdtemp(join(tmpdir(), "tidings-chatbot-"));

await runOnServer(server, `create database ${name}`);
const start = (port: number) => startService(port, key, { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir });
const services: { readonly port: number; service: BenchService }[] = [];
for (const port of [39_511, 39_512]) {
  services.push({ port, service: await start(port) });
}
const client = createPersistentClient(services[0]?.service.baseUrl ?? "", key);
const database = new pg.Client({ connectionString: url });
await database.connect();
try {
  await prepare();
  await killWhileAnswering();
} finally {
  await client.close();
  await database.end();
  await Promise.all(services.map(({ service }) => stop(service)));
  await runOnServer(server, `drop database ${name} with (force)`);
  await rm(dataDir, { recursive: true });
}

async function prepare(): Promise<void> {
  const [inbox] = (await client.call(inboxes.list_inboxes, {})).data;
  await client.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { chatbot: true } });
  const graph_definition = { entry_point: "main", nodes: [{ id: "main", type: "llm" }], edges: [] };
  await client.call(chatbot.configure_chatbot, { graph_definition });
  await client.call(knowledgeBase.add_qa_pair, { question, answer });
  await client.call(billing.subscribe_chatbot_addon, { billing_unit: "per_message", cost_per_unit: 0 });
}

async function killWhileAnswering(): Promise<void> {
  const messages = kills * contactsPerKill;
  const ended = "chatbot_turns where status <> 'pending'";
  let interrupted = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const [victim, other] = kill % 2 === 0 ? services : services.toReversed();
    if (!victim || !other) {
      return;
    }
    const phones = Array.from(
      { length: contactsPerKill },
      (_, index) => `+1415${5_000_000 + kill * contactsPerKill + index}`,
    );
    await Promise.all(phones.map((phone) => write(other.service.baseUrl, phone)));
    await sleep(Math.random() * killWithinMs);
    await stop(victim.service);
    interrupted += contactsPerKill * (kill + 1) - (await count(ended));
    victim.service = await start(victim.port);
  }
  await pollUntil(async () => (await count(ended)) >= messages);
  await pollUntil(
    async () =>
      (await count("messages where direction = 'outbound' and status not in ('delivered', 'read')")) === 0,
  );
  const answers = await count("simulator_messages where direction = 'outbound'");
  const phones =
    "(select distinct phone_number from simulator_messages where direction = 'outbound') as phones";
  const answered = await count(phones);
  console.log(
    `${messages} messages, ${kills} kills, at each of which ${(interrupted / kills).toFixed(0)} were open on average: ${await count("chatbot_turns where status = 'answered'")} turns answered, ${messages - answered} answers missing, ${answers - answered} doubled`,
  );
  console.log(
    `add-on: ${await count("chatbot_units")} units, of ${await count("(select distinct conversation_id from chatbot_units) as metered")} conversations`,
  );
}

async function stop({ child }: BenchService): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
}

async function write(baseUrl: string, from: string): Promise<void> {
  const response = await fetch(`${baseUrl}/simulator/inbound`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({ from, text: question }),
  });
  if (!response.ok) {
    throw new Error(await response.text());
  }
  await response.arrayBuffer();
}

/** Counts rows. */
async function count(rows: string): Promise<number> {
  const result = await database.query<{ count: number }>(`select count(*)::int as count from ${rows}`);
  return result.rows[0]?.count ?? 0;
}
