/**
 * kill -9 of two processes while payments are verified and reported: is each payment credited once?
 *
 * Two services on one PostgreSQL database use an emulator of Razorpay in this process, which sometimes loses
 * an answer. Each payment is verified 100 times at once through both services, its webhook arrives 20 times,
 * some payments are refunded in part, and every fourth order is paid twice. Meanwhile the services reconcile
 * payments and are killed `--kills` times (20), over `--payments` (48).
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { CallFailure } from "../src/client/index.ts";
import { openDatabase } from "../src/database/connect.ts";
import { findDifferences } from "../src/platform/money/wallet/audit.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { type Razorpay, startRazorpay } from "../test/support/razorpay.ts";
import { organization } from "../tools/organization.ts";
import { payments } from "../tools/payments.ts";
import { createPersistentClient } from "./support/persistent.ts";
import { pollUntil, startService } from "./support/service.ts";

const { values: options } = parseArgs({
  options: { kills: { type: "string", default: "20" }, payments: { type: "string", default: "48" } },
});
const [kills, wanted] = [Number(options.kills), Number(options.payments)];
const [verifications, webhooks, atOnce] = [100, 20, 3];
const amount = 20;
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = "tidings_payments";
const url = withDatabase(server, name);
const key = `sk_live_${"p".repeat(43)}`;
const ports = [39_481, 39_482];
const log = { debug() {}, info() {}, warn() {}, error: console.error };

await using razorpay = await startRazorpay();
const dataDir = await mkdtemp(join(tmpdir(), "tidings-payments-"));
await runOnServer(server, `drop database if exists ${name} with (force)`);
await runOnServer(server, `create database ${name}`);
const start = (port: number) =>
  startService(port, key, {
    DATABASE_URL: url,
    TIDINGS_DATA_DIR: join(dataDir, String(port)),
    TIDINGS_LOG_LEVEL: "fatal",
    ...razorpay.env,
  });
const services: { readonly port: number; child: Awaited<ReturnType<typeof start>>["child"] }[] = [];
for (const port of ports) {
  services.push({ port, child: (await start(port)).child });
}
process.once("exit", () => {
  for (const { child } of services) {
    child.kill("SIGKILL");
  }
});
const clients = ports.map((port) => createPersistentClient(`http://127.0.0.1:${port}`, key));
const clientOf = (index: number) => clients[index % clients.length] ?? createPersistentClient("", key);
await clientOf(0).call(organization.update_organization, { currency: "INR" });

/** How often each outcome of a call was seen. */
const outcomes = new Map<string, number>();
let [next, ended, killed] = [0, 0, 0];

await Promise.all([...Array.from({ length: atOnce }, work), killAll()]);
await settle();
const failed = await report();
for (const { child } of services) {
  child.kill("SIGKILL");
  await once(child, "exit");
}
await Promise.all(clients.map((client) => client.close()));
await runOnServer(server, `drop database ${name} with (force)`);
await rm(dataDir, { recursive: true });
process.exitCode = failed ? 1 : 0;

async function work(): Promise<void> {
  while (next < wanted) {
    await pay(next++);
    ended += 1;
  }
}

async function killAll(): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    await pollUntil(() => ended >= ((wanted - atOnce) / (kills + 1)) * kill);
    await sleep(Math.random() * 300);
    const service = services[kill % services.length];
    if (service) {
      service.child.kill("SIGKILL");
      await once(service.child, "exit");
      killed += 1;
      service.child = (await start(service.port)).child;
    }
  }
}

/** Pays an order and reports the payment in every way at the same time. */
async function pay(number: number): Promise<void> {
  if (number % 5 === 0) {
    razorpay.failNext("POST /v1/orders", "lost");
  }
  const idempotencyKey = `order ${number}`;
  const order_id = await createOrder(number, idempotencyKey);
  const status = number % 2 === 0 ? "authorized" : "captured";
  const checkouts = Array.from({ length: number % 4 === 0 ? 2 : 1 }, () =>
    razorpay.pay(order_id, { status }),
  );
  await Promise.all(
    checkouts.flatMap((checkout, index) => {
      const id = checkout.processor_payment_id;
      razorpay.failNext(`GET /v1/payments/${id}`, "drop", "html");
      razorpay.failNext(`POST /v1/payments/${id}/`, "lost");
      return [
        ...Array.from({ length: verifications }, (_, call) => verify(checkout, call + index)),
        ...Array.from({ length: webhooks }, (_, call) => notify(id, call)),
      ];
    }),
  );
  if (number % 3 === 0) {
    const id = checkouts[0]?.processor_payment_id ?? "";
    if (razorpay.payments.get(id)?.status === "captured") {
      razorpay.change(id, { amount_refunded: 500 });
      await notify(id, 0, "refund.processed");
    }
  }
}

async function createOrder(number: number, idempotencyKey: string): Promise<string> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const call = { idempotencyKey: attempt === 0 ? idempotencyKey : `${idempotencyKey} ${attempt}` };
      return (await clientOf(number).call(payments.create_payment_order, { amount }, call)).data.order_id;
    } catch (error) {
      count(`order: ${error instanceof CallFailure ? error.code : "no response"}`);
      await sleep(200);
    }
  }
}

async function verify(checkout: ReturnType<Razorpay["pay"]>, call: number): Promise<void> {
  try {
    await clientOf(call).call(payments.verify_payment, checkout);
    count("verified");
  } catch (error) {
    count(`verify: ${error instanceof CallFailure ? error.code : "no response"}`);
  }
}

/** Sends the webhook like the processor does, until it is accepted. */
async function notify(id: string, call: number, event = "payment.captured"): Promise<void> {
  // Half of the requests repeat the same event.
  const { body, headers } = razorpay.webhook(event, id, `evt_${event}_${id}_${call % 2 === 0 ? 0 : call}`);
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const address = `http://127.0.0.1:${ports[(call + attempt) % ports.length]}/webhooks/payments`;
    const request = { method: "POST", body, headers: { ...headers, "content-type": "application/json" } };
    const answer = await fetch(address, request).catch(() => undefined);
    if (answer?.ok) {
      return;
    }
    await sleep(100);
  }
  throw new Error("The webhook was never accepted.");
}

function count(outcome: string): void {
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

/** Waits until no job of payments is left. */
async function settle(): Promise<void> {
  await using database = await openDatabase({ url, dataDir, poolSize: 1, log });
  const end = Date.now() + 180_000;
  await pollUntil(async () => {
    await sleep(500);
    const left = await database.queries
      .selectFrom("jobs")
      .select("id")
      .where("name", "in", ["payment.sync", "payment.return"])
      .execute();
    return left.length === 0 || Date.now() > end;
  });
}

async function report(): Promise<boolean> {
  await using database = await openDatabase({ url, dataDir, poolSize: 1, log });
  const { queries } = database;
  const entries = await queries.selectFrom("ledger_entries").selectAll().execute();
  const rows = await queries.selectFrom("payments").selectAll().execute();
  const [first] = await queries.selectFrom("organizations").select("id").execute();
  const used = [...razorpay.orders.values()].filter(({ id }) =>
    rows.some((row) => row.processor_order_id === id),
  );
  const creditsOf = (order_id: string) =>
    entries.filter(
      ({ type, reference }) =>
        type === "top_up" &&
        rows.some(
          (row) => row.processor_order_id === order_id && reference === `payment:${row.processor_payment_id}`,
        ),
    ).length;
  const counts = used.map(({ id }) => creditsOf(id));
  const credited = rows.filter(({ disposition }) => disposition === "credited");
  const surplus = rows.filter(({ disposition }) => disposition === "surplus");
  const figures = {
    missing: wanted - counts.filter((number) => number > 0).length,
    doubles: counts.filter((number) => number > 1).length,
    "credits without a payment": entries.filter(({ type }) => type === "top_up").length - credited.length,
    "refunds not debited": credited.filter(
      ({ processor_payment_id, amount_debited }) =>
        razorpay.payments.get(processor_payment_id)?.amount_refunded !== amount_debited,
    ).length,
    "second payments not returned": surplus.filter(
      ({ processor_payment_id }) => razorpay.payments.get(processor_payment_id)?.status !== "refunded",
    ).length,
    "refunds above the payment": [...razorpay.payments.values()].filter(
      (payment) => payment.amount_refunded > payment.amount,
    ).length,
    "two orders with one receipt":
      razorpay.orders.size - new Set([...razorpay.orders.values()].map((order) => order.receipt)).size,
    "differences between balances and entries": (await findDifferences(queries, first?.id ?? "")).length,
  };
  console.log(
    `PostgreSQL: ${wanted} orders, ${rows.length} payments over ${killed} kills of two processes: ${credited.length} credited, ${surplus.length} second payments returned, ${entries.filter(({ type }) => type === "refund").length} refunds debited; ${razorpay.requests.length} requests to the processor`,
  );
  console.log(`outcomes of calls: ${JSON.stringify(Object.fromEntries(outcomes))}`);
  console.log(`must be 0: ${JSON.stringify(figures)}`);
  return Object.values(figures).some((figure) => figure !== 0);
}
