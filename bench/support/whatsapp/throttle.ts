/** 800 sends through two processes at the rate of a new number: how many arrive in a second at most. */
import type { Client } from "../../../src/client/index.ts";
import { messages } from "../../../tools/messages/index.ts";
import { pollUntil } from "../service.ts";
import { numberOf, openWindows, perSecond, startDeployment } from "./deployment.ts";
import { maxWithin } from "./emulator.ts";

const sends = 800;
const atOnce = 16;

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
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: atOnce }, (_, index) => send(index % 2 === 0 ? first : second)));
  const acceptedMs = performance.now() - startedAt;
  await pollUntil(async () => (await emulator.countArrivals()) >= sends);
  const arrivedAt = (await emulator.arrivals()).map(({ receivedAt }) => receivedAt).sort(ascending);
  report(acceptedMs, arrivedAt);
}

const ascending = (one: number, other: number) => one - other;

function report(acceptedMs: number, arrivedAt: readonly number[]): void {
  const seconds = ((arrivedAt.at(-1) ?? 0) - (arrivedAt[0] ?? 0)) / 1_000;
  const max = maxWithin(arrivedAt, 1_000);
  console.log(
    `throttle: ${sends} sends accepted in ${(acceptedMs / 1_000).toFixed(1)} s, arrived in ${seconds.toFixed(1)} s: ${(sends / seconds).toFixed(1)}/s, at most ${max} in any second (target ≤ ${perSecond})${max > perSecond ? " MISSED" : ""}`,
  );
  process.exitCode = max > perSecond ? 1 : process.exitCode;
}
