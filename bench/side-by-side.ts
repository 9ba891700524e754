/**
 * An old and a new version side by side on one PostgreSQL database: is anything lost or doubled?
 *
 * This happens during a deployment. `--old DIR` is the folder of the old version with a built dist/. The old
 * version starts first; the new version, from this folder, migrates the database while the old one works. For
 * `--seconds` (60, at most 600) both get messages to send and messages of customers in turn; then the old
 * version is stopped under load. A request that fails is repeated on the other process with the same
 * idempotency key.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { CallFailure, type Client, createClient } from "../src/client/index.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { startWebhookReceiver } from "../test/support/webhook-receiver.ts";
import { messages } from "../tools/messages/index.ts";
import { webhookEvents, webhooks } from "../tools/webhooks.ts";
import { type BenchService, startProgram } from "./support/service.ts";

const { values: options } = parseArgs({
  options: { old: { type: "string" }, seconds: { type: "string", default: "60" } },
});
if (options.old === undefined) {
  throw new Error("Name the folder of the old version: --old DIR");
}
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = "tidings_side_by_side";
const url = withDatabase(server, name);
const key = `sk_live_${"s".repeat(43)}`;
const seconds = Number(options.seconds);
/**
 * The total per second of both processes: far below what one process can do, so that errors are not caused by
 * an overload.
 */
const rate = { outbound: 40, inbound: 8 };
/** Odd, so that both processes serve each customer in turn. */
const customers = 201;
/**
 * How long only the old version works before the new version starts, and only the new version after the old
 * version has ended.
 */
const aloneMs = 2_000;
/** Jobs that a process left claimed run again when their lease ends, within a minute. */
const maxDrainMs = 120_000;

interface Process extends BenchService {
  readonly client: Client;
  accepted: number;
}

const processes: Process[] = [];
/** The ids of accepted messages, with their recipients, and the ids of stored messages of customers. */
const sent = new Map<string, string>();
const received = new Set<string>();
const errors = new Map<string, number>();
const repeats = { count: 0, differing: 0 };
let isLoading = true;

await using receiver = await startWebhookReceiver();
await runOnServer(server, `drop database if exists ${name} with (force)`);
await runOnServer(server, `create database ${name}`);
const dataDir = await mkdtemp(join(tmpdir(), "tidings-side-by-side-"));
const old = await start(join(options.old, "dist/tidings.js"), 39_441);
const oldSchema = await lastMigration();
const { data: webhook } = await old.client.call(webhooks.create_webhook, {
  url: receiver.url,
  events: webhookEvents,
});
receiver.secret = webhook.signing_secret;
const deploy = async () => {
  await sleep(aloneMs);
  const started = await start("dist/tidings.js", 39_442);
  await sleep(seconds * 1_000);
  await stop(old);
  await sleep(aloneMs);
  isLoading = false;
  return started;
};
const [recent] = await Promise.all([
  deploy(),
  repeatEvery(1_000 / rate.outbound, send),
  repeatEvery(1_000 / rate.inbound, write),
]);
await report();
await stop(recent);
await rm(dataDir, { recursive: true });
await runOnServer(server, `drop database ${name} with (force)`);

async function start(program: string, port: number): Promise<Process> {
  const env = { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir, TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" };
  const service = await startProgram(program, { port, key, env });
  process.on("exit", () => service.child.kill("SIGKILL"));
  const client = createClient({ baseUrl: service.baseUrl, key, retries: 0 });
  const started = { ...service, client, accepted: 0 };
  processes.push(started);
  return started;
}

/**
 * Stops a process like a deployment does. From now on, its failed requests are repeated on the other process.
 */
async function stop(one: Process): Promise<void> {
  one.child.kill("SIGTERM");
  await once(one.child, "exit");
  processes.splice(processes.indexOf(one), 1);
  await one.client.close();
}

/** Starts `run` at an even rate, whether or not earlier runs have ended. */
async function repeatEvery(ms: number, run: (number: number) => Promise<void>): Promise<void> {
  const running: Promise<void>[] = [];
  const begin = performance.now();
  while (isLoading) {
    const one = run(running.length);
    // The error is reported at the end.
    one.catch(() => undefined);
    running.push(one);
    await sleep(Math.max(0, begin + running.length * ms - performance.now()));
  }
  await Promise.all(running);
}

/** The customers' numbers, in turn. */
function phone(number: number): string {
  return `+1415555${String(2_000 + (number % customers))}`;
}

/**
 * Sends a message until it is accepted. One message in nine, for both processes, is sent again on the other
 * process.
 */
async function send(number: number): Promise<void> {
  const to = phone(number);
  const input = { to, type: "text", text: { body: `number ${number}` } } as const;
  const call = async ({ client }: Process) => {
    const { data } = await client.call(messages.send_message, input, { idempotencyKey: `send-${number}` });
    return data.id;
  };
  const id = await untilAccepted(number, call);
  sent.set(id, to);
  if (number % 9 === 0) {
    repeats.count += 1;
    repeats.differing += Number((await untilAccepted(number + 1, call)) !== id);
  }
}

/** A customer writes, through the simulated channel. */
async function write(number: number): Promise<void> {
  const message = {
    from: phone(number),
    text: "Is my order on its way?",
    channel_message_id: `in-${number}`,
  };
  const id = await untilAccepted(number, async ({ baseUrl }) => {
    const answer = await fetch(`${baseUrl}/simulator/inbound`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(message),
    });
    if (!answer.ok) {
      throw new CallFailure({ status: answer.status, code: "inbound", message: await answer.text() });
    }
    return ((await answer.json()) as { data: { message_id: string } }).data.message_id;
  });
  received.add(id);
}

/** Calls the processes in turn until one accepts. The number selects the first process. */
async function untilAccepted(number: number, call: (one: Process) => Promise<string>): Promise<string> {
  for (let attempt = number; ; attempt += 1) {
    const one = processes[attempt % processes.length];
    try {
      if (one) {
        const id = await call(one);
        one.accepted += 1;
        return id;
      }
    } catch (error) {
      const label = `${one === old ? "old" : "new"}: ${describeError(error)}`;
      errors.set(label, (errors.get(label) ?? 0) + 1);
    }
    await sleep(50);
  }
}

/** The status, or why there was no response. */
function describeError(error: unknown): string {
  if (error instanceof CallFailure) {
    return `${error.status} ${error.code}`;
  }
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(error);
}

async function report(): Promise<void> {
  const expected = [
    ...[...sent.keys()].flatMap((id) => [`message.sent ${id}`, `message.delivered ${id}`]),
    ...[...received].map((id) => `message.received ${id}`),
  ];
  await waitUntilArrived(expected);
  const tokens = await listArrivedMessages();
  const ids = new Set(receiver.received.map(({ event }) => event.id));
  const figures = {
    "messages lost": [...sent.keys()].filter((id) => !tokens.includes(id)).length,
    "messages doubled": tokens.length - new Set(tokens).size,
    "messages that were not accepted": tokens.filter((id) => !sent.has(id)).length,
    "events lost": countMissing(expected),
    "events under two ids": [...arrivedEvents().values()].filter((same) => same.size > 1).length,
    "forged deliveries": receiver.forged,
    "repeated keys with another answer": repeats.differing,
  };
  console.log(`schema ${oldSchema} of the old version, ${await lastMigration()} of the new one`);
  console.log(
    `${seconds} s: ${sent.size} messages sent and ${received.size} received; ${old.accepted} requests accepted by the old process, ${recent.accepted} by the new one, ${repeats.count} of them repeated keys`,
  );
  console.log(
    `${expected.length} events expected, ${ids.size} arrived, ${receiver.received.length - ids.size} of them again`,
  );
  console.log(
    Object.entries(figures)
      .map(([what, count]) => `${count} ${what}`)
      .join(", "),
  );
  console.log(`errors, each repeated until accepted: ${JSON.stringify(Object.fromEntries(errors))}`);
  process.exitCode = Object.values(figures).some((count) => count > 0) ? 1 : 0;
}

async function waitUntilArrived(expected: readonly string[]): Promise<void> {
  const end = Date.now() + maxDrainMs;
  while (countMissing(expected) > 0 && Date.now() < end) {
    await sleep(500);
  }
  // Time for a message or event to arrive twice.
  await sleep(3_000);
}

function countMissing(expected: readonly string[]): number {
  const events = arrivedEvents();
  return expected.filter((event) => !events.has(event)).length;
}

/** The ids of the events that arrived, by type and message. */
function arrivedEvents(): Map<string, Set<string>> {
  const events = new Map<string, Set<string>>();
  for (const { event } of receiver.received) {
    const what = `${event.type} ${event.data.message_id}`;
    events.set(what, (events.get(what) ?? new Set()).add(event.id));
  }
  return events;
}

/** The id of each outbound message on a customer's phone, as often as it arrived there. */
async function listArrivedMessages(): Promise<string[]> {
  const tokens: string[] = [];
  for (const number of new Set(sent.values())) {
    // More than one customer gets in ten minutes.
    const path = `/simulator/phones/${encodeURIComponent(number)}/messages?limit=200`;
    const answer = await fetch(recent.baseUrl + path, { headers: { "x-api-key": key } });
    const { data } = (await answer.json()) as { data: { token: string | null }[] };
    tokens.push(...data.flatMap(({ token }) => token ?? []));
  }
  return tokens;
}

async function lastMigration(): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>("select max(name) as name from kysely_migration");
  await client.end();
  return rows[0]?.name ?? "";
}
