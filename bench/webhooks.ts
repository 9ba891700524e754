/**
 * S4: webhooks to a local receiver, 1,000 events a second for a minute.
 *
 * Then the same beside a receiver that hangs and a receiver that rejects connections. `--embedded` runs on
 * the embedded database, at 200 events a second; `--seconds 10` is shorter.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type App, startApp } from "../src/app.ts";
import { createClient } from "../src/client/index.ts";
import { readConfig } from "../src/config/index.ts";
import { newId } from "../src/database/id.ts";
import type { World } from "../src/platform/foundation/kernel/context.ts";
import { implement, type ModuleRoute } from "../src/platform/foundation/kernel/module.ts";
import type { Transaction } from "../src/platform/foundation/kernel/transaction.ts";
import { modules } from "../src/platform/index.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { webhookEvents, webhooks } from "../tools/webhooks.ts";
import { type Receivers, startReceivers } from "./support/receivers.ts";
import { pollUntil } from "./support/service.ts";

const { values: options } = parseArgs({
  options: {
    embedded: { type: "boolean", default: false },
    seconds: { type: "string", default: "60" },
    rate: { type: "string" },
  },
});
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const rate = Number(options.rate ?? (options.embedded ? 200 : 1_000));
const seconds = Number(options.seconds);
const key = `sk_live_${"w".repeat(43)}`;
const log = { debug() {}, info() {}, warn() {}, error: console.error };

using receivers = await startReceivers();
const healthy = await run(receivers, []);
const beside = await run(receivers, ["hanging", "refusing"]);
console.log(`beside a hanging and a refusing receiver, p99 changes by ${percent(beside / healthy - 1)}`);

/** Runs on a new database. @returns the p99 of the healthy receiver in ms. */
async function run(receivers: Receivers, others: readonly string[]): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-webhooks-"));
  const name = `tidings_webhooks_${process.pid}`;
  if (!options.embedded) {
    await runOnServer(server, `create database ${name}`);
  }
  const { config } = readConfig({
    TIDINGS_DATA_DIR: dataDir,
    TIDINGS_BOOTSTRAP_KEY: key,
    TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true",
    ...(options.embedded ? {} : { DATABASE_URL: withDatabase(server, name) }),
  });
  const sent = new Set<string>();
  const app = await startApp({
    config,
    log,
    listen: { host: "127.0.0.1", port: 0 },
    enabledModules: { ...modules, emitter: createEmitter(sent) },
  });
  await subscribe(app, receivers, others);
  const before = process.cpuUsage();
  const { ok } = await fetch(`${app.address}/emit`, { method: "POST", headers: { "x-api-key": key } });
  if (!ok) {
    throw new Error("The events were not emitted.");
  }
  await pollUntil(
    async () => (await receivers.report()).arrivals.length >= sent.size || (await sleep(500, false)),
  );
  const { user, system } = process.cpuUsage(before);
  const p99 = await report(receivers, sent, others);
  console.log(
    `  of this process ${((user + system) / 1_000 / sent.size).toFixed(2)} ms of CPU for each event`,
  );
  await app[Symbol.asyncDispose]();
  if (!options.embedded) {
    await runOnServer(server, `drop database ${name} with (force)`);
  }
  await rm(dataDir, { recursive: true });
  return p99;
}

async function subscribe(app: App, receivers: Receivers, others: readonly string[]): Promise<void> {
  const client = createClient({ baseUrl: app.address, key });
  const { healthy, hanging } = receivers.ports;
  const ports: Readonly<Record<string, number>> = { hanging, refusing: 1 };
  for (const port of [...others.map((name) => ports[name]), healthy]) {
    const url = `http://127.0.0.1:${port}/`;
    const { data } = await client.call(webhooks.create_webhook, { url, events: webhookEvents });
    receivers.expectSecret(data.signing_secret);
  }
  await client.close();
}

/** A module that emits the events when its route is called, and adds their messages to `sent`. */
function createEmitter(sent: Set<string>) {
  const routes: readonly ModuleRoute[] = [
    {
      methods: ["POST"],
      path: "/emit",
      credential: "any",
      scope: "inbox:write",
      body: "none",
      async handle({ organization_id }, world) {
        await emitEvents(world, organization_id, sent);
        return { status: 204 };
      },
    },
  ];
  return implement({}, { operations: {}, routes });
}

/**
 * Emits events at an even rate. Events of the same few milliseconds are in one transaction, like receipts.
 */
async function emitEvents(world: World, organization_id: string, sent: Set<string>): Promise<void> {
  const begin = performance.now();
  while (sent.size < rate * seconds) {
    const due = Math.min(((performance.now() - begin) / 1_000) * rate, rate * seconds);
    const events = Array.from({ length: Math.ceil(due) - sent.size }, () => newId("msg", new Date()));
    await world.database.transaction(async (tx) => {
      for (const message of events) {
        emitEvent(tx, { organization_id, message });
      }
    });
    for (const message of events) {
      sent.add(message);
    }
    await sleep(5);
  }
  const took = (performance.now() - begin) / 1_000;
  console.log(`emitted ${sent.size} events in ${took.toFixed(1)} s`);
}

function emitEvent(
  tx: Transaction,
  { organization_id, message }: { organization_id: string; message: string },
): void {
  const order = newId("cnv", new Date());
  const text = { body: "Is my order on its way?" };
  const data = {
    message_id: message,
    conversation_id: order,
    from: "+14155550123",
    type: "text" as const,
    text,
  };
  tx.emit({ type: "message.received", organization_id, order, data });
}

async function report(receivers: Receivers, sent: ReadonlySet<string>, others: readonly string[]) {
  const { arrivals, repeated, forged } = await receivers.report();
  const missing = sent.size - new Set(arrivals.map(([, message]) => message)).size;
  const times = arrivals.map(([, , ms]) => ms).sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * times.length)] ?? Number.NaN;
  const where = options.embedded ? "embedded" : "PostgreSQL";
  console.log(
    `${where}${others.map((name) => `, one ${name}`).join("")}: ${sent.size} events at ${rate}/s, ${missing} missing, ${repeated} repeated, ${forged} forged; event to first try p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1 - 1e-9)} ms`,
  );
  return at(0.99);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
