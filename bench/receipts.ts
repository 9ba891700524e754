/**
 * S6: receipts a second through the platform's callback, in random order.
 *
 * One receipt in ten is doubled, and one message in twenty gets its receipts before its id. In this process:
 * 16 bodies of 1 to 50 receipts at once, for messages that are stored beforehand. Messages whose receipts
 * arrive before their ids are queued until all receipts were received, so those receipts are parked; then
 * their delivery jobs run with a channel that accepts at once, which applies the receipts. `--engine
 * postgres|embedded` (default both), `--messages N`.
 */
import { parseArgs } from "node:util";
import { simulatorCapabilities } from "../src/adapters/channel/capabilities.ts";
import type { Channel, Receipt } from "../src/ports/channel/channel.ts";
import {
  channelIdOf,
  countFaults,
  createReceipts,
  deliveryJobs,
  fillMessages,
  numberOf,
} from "./support/receipts/messages.ts";
import { type BenchPlatform, startPlatform } from "./support/receipts/platform.ts";

const { values: options } = parseArgs({
  options: { engine: { type: "string" }, messages: { type: "string" } },
});
const counts = { postgres: 20_000, embedded: 4_000 };
const bodiesAtOnce = 16;
const maxBody = 50;
const maxAttempts = 3;
const target = 2_000;

const channel: Channel = {
  capabilities: simulatorCapabilities,
  async send({ token }) {
    return { outcome: "accepted", channel_message_id: channelIdOf(numberOf(token)) };
  },
  async find() {
    return { outcome: "unknown" };
  },
  async check() {
    return { outcome: "working", limits: null };
  },
};

for (const engine of ["postgres", "embedded"] as const) {
  if ((options.engine ?? engine) === engine) {
    await using started = await startPlatform(engine, channel);
    await measure(started, Number(options.messages ?? counts[engine]));
  }
}

async function measure({ platform, database }: BenchPlatform, count: number): Promise<void> {
  const random = createRandom(1);
  const messages = await fillMessages(database, count);
  const receipts = createReceipts(messages, random);
  console.log(`\n${database.engine}: ${count} messages, ${receipts.length} receipts`);

  const before = database.pool();
  const startedAt = performance.now();
  const repeated = await receive(cut(receipts, random), (body) => platform.callbacks.onReceipts(body));
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = database.pool();
  const each = (value: number) => (value / receipts.length).toFixed(2);
  const rate = receipts.length / seconds;
  console.log(
    `  ${rate.toFixed(0)} receipts/s (target ≥ ${target})${rate < target ? " MISSED" : ""}, ${each(after.statements - before.statements)} statements and ${each(after.waits - before.waits)} waits each, ${repeated} bodies repeated after an error`,
  );

  const jobs = deliveryJobs(messages);
  await database.transaction((tx) => platform.jobs.enqueue(tx, jobs));
  const deliveredAt = performance.now();
  await platform.jobs.runDue();
  const deliverySeconds = (performance.now() - deliveredAt) / 1_000;
  console.log(
    `  ${jobs.length} messages with parked receipts delivered in ${deliverySeconds.toFixed(1)} s (${(jobs.length / deliverySeconds).toFixed(0)}/s)`,
  );

  const faults = Object.entries(await countFaults(database.queries, messages));
  console.log(`  in the end: ${faults.map(([what, number]) => `${number} ${what}`).join(", ")}`);
  if (faults.some(([, number]) => number > 0)) {
    process.exitCode = 1;
  }
}

/**
 * Sends the bodies, several at once. A body that fails is repeated, as a channel does.
 * @returns how often bodies failed.
 */
async function receive(
  bodies: readonly Receipt[][],
  onReceipts: (body: Receipt[]) => Promise<void>,
): Promise<number> {
  let [next, repeated] = [0, 0];
  const feed = async () => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
      for (let attempt = 1; !(await isReceived(onReceipts(body), attempt)); attempt += 1) {
        repeated += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: bodiesAtOnce }, feed));
  return repeated;
}

/** @throws the error of the last attempt. */
async function isReceived(call: Promise<void>, attempt: number): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (attempt === maxAttempts) {
      throw error;
    }
    return false;
  }
}

function cut(receipts: readonly Receipt[], random: () => number): Receipt[][] {
  const bodies: Receipt[][] = [];
  for (let from = 0; from < receipts.length; ) {
    const body = receipts.slice(from, from + 1 + Math.floor(random() * maxBody));
    bodies.push(body);
    from += body.length;
  }
  return bodies;
}

/** The same numbers in every run: a linear congruential generator with the constants of Numerical Recipes. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
