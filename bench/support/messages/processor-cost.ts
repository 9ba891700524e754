/** Measures what a message costs in processor time, and prints it. */
import { runClosedLoop } from "../load.ts";
import { print } from "./report.ts";
import { knownRecipients, type Subject } from "./subject.ts";
import type { Yardstick } from "./yardstick.ts";

/** How long the bare client runs. */
const bareMs = 2_000;

/** Milliseconds of a message and of the bare client's transaction; undefined if unknown. */
interface Costs {
  readonly own: number | undefined;
  readonly bare: number | undefined;
}

/**
 * The processor time of a message, of the service and the database together, from the request until the
 * delivery, relative to the time of the bare client's transaction.
 */
export async function measureProcessorTime(
  subjects: readonly Subject[],
  yardstick: Yardstick,
  count: number,
): Promise<void> {
  for (const organizations of [1, 16]) {
    const rows: Costs[] = [];
    for (const subject of subjects) {
      await subject.addOrganizations(organizations);
      // The first messages create the contacts and warm up the process.
      const send = (messages: number) =>
        subject.send(16, (call) => runClosedLoop({ connections: 16, count: messages }, call), {
          organizations,
        });
      await send(knownRecipients);
      await subject.drain();
      const { queued } = await subject.counters();
      const own = await timeOf(subject, async () => {
        await send(count);
        await subject.awaitDelivery(queued + count);
        return count;
      });
      const bare = await timeOf(yardstick, async () => (await yardstick.run(bareMs)).count);
      rows.push({ own, bare });
    }
    print(
      `processor time, ${organizations} organization${organizations === 1 ? "" : "s"}`,
      rows,
      describeTime,
      "≤ 3 × bare",
    );
  }
}

/** The processor time of each item of some work, in milliseconds; undefined if unknown. */
async function timeOf(
  user: Pick<Subject, "processorMs">,
  work: () => Promise<number>,
): Promise<number | undefined> {
  const before = await user.processorMs();
  const count = await work();
  const after = await user.processorMs();
  return before === undefined || after === undefined ? undefined : (after - before) / count;
}

function describeTime({ own, bare }: Costs): string {
  return own === undefined || bare === undefined
    ? "not measured"
    : `${own.toFixed(2)} ms, ${(own / bare).toFixed(1)} × ${bare.toFixed(2)} ms`;
}
