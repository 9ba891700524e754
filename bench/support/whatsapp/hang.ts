/**
 * Graph takes 60 s for each request and answers none: how long messages of other persons take to be sent
 * meanwhile.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { messages } from "../../../tools/messages/index.ts";
import { pollUntil } from "../service.ts";
import { numberOf, openWindows, startDeployment } from "./deployment.ts";

/** More requests than a lane has slots. */
const hangingAtFirst = 40;
const seconds = 60;
/** One second for the request, the job and the call of the channel, and one second for a slot. */
const maxMs = 2_000;

export async function measureHang(): Promise<void> {
  await using deployment = await startDeployment();
  const { emulator, clients, inboxId: inbox_id } = deployment;
  const [client] = clients;
  const persons = Array.from({ length: hangingAtFirst + seconds }, (_, index) => index);
  await openWindows(deployment, persons);
  await emulator.control("PUT", "/faults", { timeouts: 1 });
  const acceptedAt = new Map<string, number>();
  const send = async (index: number) => {
    const startedAt = Date.now();
    const text = { body: `number ${index}` };
    const input = { to: numberOf(index), type: "text", text, inbox_id } as const;
    acceptedAt.set((await client.call(messages.send_message, input)).data.id, startedAt);
  };
  await Promise.all(persons.slice(0, hangingAtFirst).map(send));
  await pollUntil(async () => (await emulator.countArrivals()) >= hangingAtFirst);
  const before = new Set(acceptedAt.keys());
  for (const index of persons.slice(hangingAtFirst)) {
    await send(index);
    await sleep(1_000);
  }
  await pollUntil(async () => (await emulator.countArrivals()) >= persons.length);
  const arrivals = await emulator.arrivals();
  report(
    arrivals
      .filter(({ token }) => !before.has(token))
      .map(({ token, receivedAt }) => receivedAt - (acceptedAt.get(token) ?? Number.NaN))
      .sort((one, other) => one - other),
  );
}

function report(delays: readonly number[]): void {
  const worst = delays.at(-1) ?? Number.NaN;
  const isMissed = !(worst <= maxMs);
  console.log(
    `hang: ${hangingAtFirst} requests hang, then one more each second for ${seconds} s: ${delays.length} messages of other persons arrived, median ${delays[Math.floor(delays.length / 2)]} ms, worst ${worst} ms (target ≤ ${maxMs})${isMissed ? " MISSED" : ""}`,
  );
  process.exitCode = isMissed ? 1 : process.exitCode;
}
