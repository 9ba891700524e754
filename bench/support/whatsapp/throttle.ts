/** 800 sends through two processes at the default rate of a number: how many arrive in a second at most. */
import type { Client } from "../../../src/client/index.ts";
import { messages } from "../../../tools/messages/index.ts";
import { pollUntil } from "../service.ts";
import { numberOf, openWindows, startDeployment } from "./deployment.ts";
import { maxPerSecond } from "./emulator.ts";

const sends = 800;
const atOnce = 16;
const rate = 80;

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
  const arrivals = await emulator.arrivals();
  const times = arrivals.map(({ receivedAt }) => receivedAt);
  const seconds = (Math.max(...times) - Math.min(...times)) / 1_000;
  const max = maxPerSecond(arrivals);
  console.log(
    `throttle: ${sends} sends accepted in ${(acceptedMs / 1_000).toFixed(1)} s, arrived in ${seconds.toFixed(1)} s: ${(sends / seconds).toFixed(1)}/s, at most ${max} in any second (target ≤ ${rate})${max > rate ? " MISSED" : ""}`,
  );
  process.exitCode = max > rate ? 1 : process.exitCode;
}
