/**
 * S3 and R1: a broadcast on PostgreSQL: messages a second, exact counts, memory, and replies meanwhile.
 *
 * With `--kills 20` processes are killed -9 meanwhile, and every recipient must get exactly one message.
 * `--recipients 100000`, `--processes 1`. With `--control` the broadcast is paused, resumed, cancelled and
 * retried meanwhile.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import type { Client } from "../src/client/index.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { auth } from "../tools/auth.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { operator } from "../tools/operator.ts";
import { wallet } from "../tools/wallet.ts";
import { prepareBroadcast } from "./support/broadcasts/campaign.ts";
import { startReplies } from "./support/broadcasts/replies.ts";
import { quantile } from "./support/load.ts";
import { describeProcessorTimes, readProcessorTimes } from "./support/messages/processor-time.ts";
import { createPersistentClient } from "./support/persistent.ts";
import { type BenchService, pollUntil, residentMb, startService } from "./support/service.ts";

const { values: options } = parseArgs({
  options: {
    recipients: { type: "string", default: "100000" },
    processes: { type: "string", default: "1" },
    kills: { type: "string", default: "0" },
    control: { type: "boolean", default: false },
  },
});
const [recipients, processes, kills] = [
  Number(options.recipients),
  Number(options.processes),
  Number(options.kills),
];
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = `tidings_broadcasts_${process.pid}`;
const url = withDatabase(server, name);
const key = `sk_live_${"b".repeat(43)}`;
const operatorKey = "b".repeat(32);
const dataDir = await mkdtemp(join(tmpdir(), "tidings-broadcasts-"));
const firstPort = 39_481;
/**
 * The default of autovacuum_naptime. The benchmark vacuums itself, because not every server runs autovacuum.
 */
const autovacuumMs = 60_000;

await runOnServer(server, `create database ${name}`);
const services: BenchService[] = [];
const start = (index: number) =>
  startService(firstPort + index, key, {
    DATABASE_URL: url,
    TIDINGS_DATA_DIR: dataDir,
    TIDINGS_OPERATOR_KEY: operatorKey,
  });
for (let index = 0; index < processes; index += 1) {
  services.push(await start(index));
}
const connect = (as: string) => createPersistentClient(`http://127.0.0.1:${firstPort}`, as);
const client = connect(key);
try {
  await measure();
} finally {
  await client.close();
  for (const { child } of services) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await runOnServer(server, `drop database ${name} with (force)`);
  await rm(dataDir, { recursive: true });
}

async function measure(): Promise<void> {
  const organization = (await client.call(auth.whoami, {})).data.organization.id;
  const id = await prepareBroadcast(client, { url, organization, contacts: recipients });
  const other = await createTenant();
  const times = () => readProcessorTimes(services.map(({ child }) => child));
  const before = await times();
  const startedAt = performance.now();
  await client.call(broadcasts.execute_broadcast, { id }, { idempotencyKey: "execute" });
  const executedAt = performance.now();
  const own = startReplies(client, "+12000000001");
  const theirs = startReplies(other, "+14155550177");
  const samples = { count: 0, wrong: 0, memoryMb: 0 };
  const vacuum = setInterval(() => {
    runOnServer(url, "vacuum analyze").catch(console.error);
  }, autovacuumMs);
  const perSecond = () => ((recipients / (performance.now() - executedAt)) * 1_000).toFixed(0);
  const measureSending = async () => {
    await untilSent(id, samples);
    return perSecond();
  };
  const [sent] = await Promise.all([measureSending(), killAll(id), options.control && control(id)]);
  await untilSent(id, samples);
  await untilDelivered();
  const delivered = perSecond();
  const after = await times();
  clearInterval(vacuum);
  await Promise.all([own, theirs].map((replies) => replies[Symbol.asyncDispose]()));
  console.log(
    `${recipients} recipients, ${processes} processes, ${kills} kills: execute ${(executedAt - startedAt).toFixed(0)} ms; ${sent} messages/s sent, ${delivered}/s delivered; ${samples.count} samples, ${samples.wrong} with wrong sums; memory at most ${samples.memoryMb.toFixed(0)} MB`,
  );
  if (kills === 0) {
    // With the execution and the replies.
    console.log(describeProcessorTimes(before, after, recipients));
  }
  console.log(`own replies ${describe(own.times)}; another organization's ${describe(theirs.times)}`);
  await report(id);
  await other.close();
}

async function createTenant(): Promise<Client> {
  const owner = { email: "other@example.org", name: "Other" };
  const { data } = await client.call(
    operator.create_organization,
    { name: "Other", owner },
    { key: operatorKey },
  );
  return connect(data.api_key.secret_key);
}

function describe(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => quantile({ times: sorted }, share).toFixed(0);
  return `${times.length}, to delivered p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

/** Waits until the broadcast is no longer being sent. */
async function untilSent(
  id: string,
  samples: { count: number; wrong: number; memoryMb: number },
): Promise<void> {
  for (;;) {
    const { data } = await client.call(broadcasts.get_broadcast_metrics, { id });
    const { total, pending, sent, delivered, read, failed } = data;
    samples.count += 1;
    samples.wrong += Number(total !== pending + sent + failed || read > delivered || delivered > sent);
    const memory = await Promise.all(services.map(({ child }) => residentMb(child.pid)));
    samples.memoryMb = Math.max(samples.memoryMb, ...memory);
    if (data.execution_status === "completed") {
      return;
    }
    await sleep(200);
  }
}

/** Waits until nothing is held any more for messages whose receipts have not arrived. */
async function untilDelivered(): Promise<void> {
  while ((await client.call(wallet.get_wallet, {})).data.simulated.held > 0) {
    await sleep(200);
  }
}

/** Kills the processes in turn while messages are being sent. */
async function killAll(id: string): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    await pollUntil(async () => {
      const { data } = await client.call(broadcasts.get_broadcast_metrics, { id });
      return (
        data.sent + data.failed > (recipients / (kills + 1)) * kill || data.execution_status === "completed"
      );
    });
    const index = kill % services.length;
    const service = services[index];
    if (service) {
      service.child.kill("SIGKILL");
      await once(service.child, "exit");
      services[index] = await start(index);
    }
  }
}

/**
 * Pauses and resumes at a quarter, cancels at the half, and retries the recipients that the cancel excluded.
 */
async function control(id: string): Promise<void> {
  const until = (share: number) =>
    pollUntil(async () => {
      const { data } = await client.call(broadcasts.get_broadcast_metrics, { id });
      return data.sent + data.failed > recipients * share;
    });
  await until(0.25);
  await client.call(broadcasts.pause_broadcast, { id }, { idempotencyKey: "pause" });
  await sleep(3_000);
  const { data: paused } = await client.call(broadcasts.get_broadcast_metrics, { id });
  console.log(`paused at ${paused.sent} sent, ${paused.pending} pending`);
  await client.call(broadcasts.resume_broadcast, { id }, { idempotencyKey: "resume" });
  await until(0.5);
  const { data: cancelled } = await client.call(
    broadcasts.cancel_broadcast,
    { id },
    { idempotencyKey: "cancel" },
  );
  console.log(
    `cancelled: ${JSON.stringify(cancelled.stats)}, excluded ${JSON.stringify(cancelled.excluded)}`,
  );
  await sleep(3_000);
  await client.call(broadcasts.retry_broadcast, { id, scope: "pending" }, { idempotencyKey: "retry" });
}

async function report(id: string): Promise<void> {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  const { rows } = await database.query<{ phones: number; messages: number }>(
    `select count(distinct phone_number)::int as phones, count(*)::int as messages from simulator_messages
     where content ->> 'type' = 'template' and direction = 'outbound'`,
  );
  const { rows: charged } = await database.query<{ charged: number }>(
    "select count(*)::int as charged from ledger_entries where type = 'charge' and reference like '%:held-spent'",
  );
  await database.end();
  const { data } = await client.call(broadcasts.get_broadcast, { id });
  const [{ phones = 0, messages = 0 } = {}, { charged: entries = 0 } = {}] = [rows[0], charged[0]];
  console.log(
    `at the channel: ${recipients - phones} missing, ${messages - phones} doubled; ${JSON.stringify(data.stats)}; ${entries} charges`,
  );
}
