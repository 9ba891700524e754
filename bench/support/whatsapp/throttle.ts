/**
 * 800 sends through two processes at the default rate of a number: how many arrive in a second at most.
 *
 * The starts of the jobs are read from the lane's row meanwhile. They show whether the rate was exceeded there, or by sends
 * that took unequally long from their start to their arrival.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../../../src/client/index.ts";
import type { Queries } from "../../../src/database/database.ts";
import { messages } from "../../../tools/messages/index.ts";
import { quantile } from "../load.ts";
import { pollUntil } from "../service.ts";
import { numberOf, openWindows, startDeployment } from "./deployment.ts";
import { maxWithin } from "./emulator.ts";

const sends = 800;
const atOnce = 16;
const rate = 80;
/** Less than the time for which the row keeps a start. */
const sampleEveryMs = 250;

export async function measureThrottle(): Promise<void> {
  await using deployment = await startDeployment();
  const { emulator, clients, inboxId: inbox_id } = deployment;
  await openWindows(
    deployment,
    Array.from({ length: sends }, (_, index) => index),
  );
  let next = 0;
  const send = async (client: Client) => {
    while (next < sends) {
      const index = next++;
      const text = { body: `number ${index}` };
      await client.call(messages.send_message, { to: numberOf(index), type: "text", text, inbox_id });
    }
  };
  const [first, second] = clients;
  const starts = recordStarts(deployment.queries);
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: atOnce }, (_, index) => send(index % 2 === 0 ? first : second)));
  const acceptedMs = performance.now() - startedAt;
  await pollUntil(async () => (await emulator.countArrivals()) >= sends);
  const arrivedAt = (await emulator.arrivals()).map(({ receivedAt }) => receivedAt).sort(ascending);
  report({ acceptedMs, arrivedAt, startedAt: await starts.stop() });
}

const ascending = (one: number, other: number) => one - other;

/** Samples when the jobs of the lane started. Several have the same time. */
function recordStarts(queries: Queries) {
  const counts = new Map<string, number>();
  let isOver = false;
  const sample = async () => {
    const rows = await queries.selectFrom("paced_lanes").select("started_at").execute();
    const times = rows.flatMap(({ started_at }) => started_at.map((time) => new Date(time).toISOString()));
    for (const time of new Set(times)) {
      const count = times.filter((other) => other === time).length;
      counts.set(time, Math.max(count, counts.get(time) ?? 0));
    }
  };
  const sampling = (async () => {
    while (!isOver) {
      await sample();
      await sleep(sampleEveryMs);
    }
    await sample();
  })();
  return {
    async stop(): Promise<readonly number[]> {
      isOver = true;
      await sampling;
      return [...counts]
        .flatMap(([time, count]) => Array<number>(count).fill(Date.parse(time)))
        .sort(ascending);
    },
  };
}

interface Times {
  readonly acceptedMs: number;
  /** Both ascending. */
  readonly arrivedAt: readonly number[];
  readonly startedAt: readonly number[];
}

function report({ acceptedMs, arrivedAt, startedAt }: Times): void {
  const seconds = ((arrivedAt.at(-1) ?? 0) - (arrivedAt[0] ?? 0)) / 1_000;
  const max = maxWithin(arrivedAt, 1_000);
  const delays = arrivedAt.map((time, index) => time - (startedAt[index] ?? time)).sort(ascending);
  console.log(
    `throttle: ${sends} sends accepted in ${(acceptedMs / 1_000).toFixed(1)} s, arrived in ${seconds.toFixed(1)} s: ${(sends / seconds).toFixed(1)}/s, at most ${max} in any second (target ≤ ${rate})${max > rate ? " MISSED" : ""}`,
  );
  console.log(
    `  ${startedAt.length} starts, at most ${maxWithin(startedAt, 1_000)} in any second and ${maxWithin(startedAt, 1_100)} in any 1.1 s; from the nth start to the nth arrival ${delays[0]} to ${delays.at(-1)} ms, median ${quantile({ times: delays }, 0.5)} ms`,
  );
  process.exitCode = max > rate ? 1 : process.exitCode;
}
