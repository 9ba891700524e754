/**
 * R9: 10,000 messages whose wallet must pay, over two processes with 20 kills -9 on PostgreSQL.
 *
 * Embedded: 1,000 messages, one process and 5 kills. Each message holds its price. A fifth of the messages
 * fails and releases the price; the other messages settle it. The wallet gets too little money, also while
 * the benchmark runs, so that many messages are rejected. The balance is sampled all the time: it must never
 * be below zero. At the end nothing is held, each delivered message was charged once, and the balances are
 * the sums of the ledger's entries.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CallFailure, type Client } from "../src/client/index.ts";
import { openDatabase } from "../src/database/connect.ts";
import type { Database } from "../src/database/database.ts";
import { findDifferences } from "../src/platform/money/wallet/audit.ts";
import { meanwhile } from "../test/support/meanwhile.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { inboxes } from "../tools/inboxes.ts";
import { ledger } from "../tools/ledger.ts";
import { messages } from "../tools/messages/index.ts";
import { operator } from "../tools/operator.ts";
import { operatorWallet, wallet } from "../tools/wallet.ts";
import { createPersistentClient } from "./support/persistent.ts";
import { pollUntil, startService } from "./support/service.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = "tidings_wallet";
const key = `sk_live_${"w".repeat(43)}`;
const operatorKey = "w".repeat(32);
const atOnce = 64;

interface Run {
  readonly engine: string;
  readonly env: Record<string, string>;
  readonly ports: readonly number[];
  readonly sends: number;
  readonly kills: number;
  openDatabase(): Promise<Database>;
}

const log = { debug() {}, info() {}, warn() {}, error: console.error };
const dataDir = await mkdtemp(join(tmpdir(), "tidings-wallet-"));

await runOnServer(server, `drop database if exists ${name} with (force)`);
await runOnServer(server, `create database ${name}`);
const url = withDatabase(server, name);
await run({
  engine: "PostgreSQL",
  env: { DATABASE_URL: url },
  ports: [39_471, 39_472],
  sends: 10_000,
  kills: 20,
  openDatabase: () => openDatabase({ url, dataDir, log }),
});
await runOnServer(server, `drop database ${name} with (force)`);
await run({
  engine: "embedded",
  env: {},
  ports: [39_473],
  sends: 1_000,
  kills: 5,
  openDatabase: () => openDatabase({ url: undefined, dataDir, log }),
});
await rm(dataDir, { recursive: true });

async function run({ engine, env, ports, sends, kills, ...options }: Run): Promise<void> {
  const start = (port: number) =>
    startService(port, key, {
      ...env,
      TIDINGS_DATA_DIR: dataDir,
      TIDINGS_WALLET: "block",
      TIDINGS_OPERATOR_KEY: operatorKey,
      TIDINGS_RATE_LIMIT: "1000000",
      TIDINGS_RATE_BURST: "1000000",
    });
  const services: { readonly port: number; child: Awaited<ReturnType<typeof start>>["child"] }[] = [];
  for (const port of ports) {
    services.push({ port, child: (await start(port)).child });
  }
  const clients = ports.map((port) => createPersistentClient(`http://127.0.0.1:${port}`, key));
  const [client] = clients;
  if (!client) {
    return;
  }
  const asOperator = { key: operatorKey };
  const { data: organizations } = await client.call(operator.list_organizations, {}, asOperator);
  const id = organizations[0]?.id ?? "";
  const [inbox] = (await client.call(inboxes.list_inboxes, {})).data;
  await client.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { wallet: "enforced" } });
  await fetch(`http://127.0.0.1:${ports[0]}/simulator/faults`, {
    method: "PUT",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ failures: [{ code: 131026, share: 0.2 }], doubled_receipts: 0.1 }),
  });
  const add = (amount: number, step: number) =>
    client.call(
      operatorWallet.adjust_wallet,
      { id, amount, reason: `Step ${step}`, simulated: true },
      { ...asOperator, idempotencyKey: `step ${step}` },
    );

  const accepted: string[] = [];
  let [next, rejected, lowest, samples, isDone] = [0, 0, Number.POSITIVE_INFINITY, 0, false];
  const sendAll = async (from: (typeof clients)[number]) => {
    while (next < sends) {
      const number = next++;
      const to = `+1415${5_000_000 + (number % 500)}`;
      const input = { to, type: "text", text: { body: `number ${number}` } } as const;
      try {
        accepted.push(
          (await from.call(messages.send_message, input, { idempotencyKey: `send ${number}` })).data.id,
        );
      } catch (error) {
        if (!(error instanceof CallFailure) || error.code !== "insufficient_funds") {
          throw error;
        }
        rejected += 1;
      }
    }
  };
  const sample = async () => {
    while (!isDone) {
      const answer = await client.call(wallet.get_wallet, {});
      lowest = Math.min(lowest, answer.data.simulated.available);
      samples += 1;
      await sleep(20);
    }
  };
  const price = (await firstPrice(client, () => add(1, 0))) ?? 0;
  const killAll = async () => {
    for (let kill = 1; kill <= kills; kill += 1) {
      await pollUntil(() => next > (sends / (kills + 1)) * kill);
      const service = services[kill % services.length];
      if (service) {
        service.child.kill("SIGKILL");
        await once(service.child, "exit");
        service.child = (await start(service.port)).child;
      }
      // Less than the cost of the messages of a step.
      await add(Number((price * (sends / (kills + 1)) * 0.7).toFixed(6)), kill);
    }
  };
  await meanwhile(sample(), async () => {
    const senders = Array.from({ length: atOnce }, (_, index) => clients[index % clients.length] ?? client);
    await Promise.all([...senders.map(sendAll), killAll()]);
    await pollUntil(async () => (await client.call(wallet.get_wallet, {})).data.simulated.held === 0);
    isDone = true;
  });
  const { simulated: end } = (await client.call(wallet.get_wallet, {})).data;
  for (const { child } of services) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await Promise.all(clients.map((each) => each.close()));
  await using database = await options.openDatabase();
  const differences = await findDifferences(database.queries, id);
  const delivered = await countMessages(database, "delivered");
  const failed = await countMessages(database, "failed");
  const charged = Math.round(end.spent / price);
  console.log(
    `${engine}: ${sends} sends over ${kills} kills: ${accepted.length + 1} accepted, ${rejected} rejected; ${delivered} delivered, ${failed} failed, ${charged} charged, ${end.held} held; lowest of ${samples} balances ${lowest}; ${differences.length} differences between balances and entries`,
  );
}

/** Finds the price of a free-form message by sending one. */
async function firstPrice(client: Client, fund: () => Promise<unknown>) {
  await fund();
  const input = { to: "+14155000000", type: "text", text: { body: "first" } } as const;
  const { data } = await client.call(messages.send_message, input);
  const { data: entries } = await client.call(ledger.list_ledger_entries, { message_id: data.id });
  return entries.at(-1)?.amount;
}

async function countMessages({ queries }: Database, status: "delivered" | "failed"): Promise<number> {
  const { count } = await queries
    .selectFrom("messages")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("status", "=", status)
    .executeTakeFirstOrThrow();
  return count;
}
