/** Measures what a message costs in processor time, and prints it. */
import { runClosedLoop } from "../load.ts";
import { median } from "../median.ts";
import { inTurn } from "./in-turn.ts";
import { print } from "./report.ts";
import { knownRecipients, type Subject } from "./subject.ts";
import type { Yardstick } from "./yardstick.ts";

const rounds = 5;
/** How long the bare client runs in a round. */
const bareMs = 500;

/** Milliseconds of a message and of the bare client's transaction; undefined if unknown. */
interface Costs {
  readonly own: number | undefined;
  readonly bare: number | undefined;
}

/**
 * The processor time of a message, of the service and the database together, from the request until the
 * delivery, relative to the time of the bare client's transaction: the medians of five rounds.
 * @param count the messages of all rounds.
 */
export async function measureProcessorTime(
  subjects: readonly Subject[],
  yardstick: Yardstick,
  count: number,
): Promise<void> {
  for (const organizations of [1, 16]) {
    const send = (subject: Subject, messages: number) =>
      subject.send(16, (call) => runClosedLoop({ connections: 16, count: messages }, call), {
        organizations,
      });
    for (const subject of subjects) {
      await subject.addOrganizations(organizations);
      // The first messages create the contacts and warm up the process.
      await send(subject, knownRecipients);
      await subject.drain();
    }
    const rows = await inTurn(subjects, rounds, async (subject): Promise<Costs> => {
      const { queued } = await subject.counters();
      const own = await timeOf(subject, async () => {
        await send(subject, count / rounds);
        await subject.awaitDelivery(queued + count / rounds);
        return count / rounds;
      });
      return { own, bare: await timeOf(yardstick, async () => (await yardstick.run(bareMs)).count) };
    });
    print(
      `processor time, ${organizations} organization${organizations === 1 ? "" : "s"}`,
      rows,
      describeTimes,
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

function describeTimes(slices: readonly Costs[]): string {
  const known = slices.flatMap(({ own, bare }) =>
    own === undefined || bare === undefined ? [] : { own, bare },
  );
  if (known.length === 0) {
    return "not measured";
  }
  const own = median(known.map((slice) => slice.own));
  const bare = median(known.map((slice) => slice.bare));
  const ratio = median(known.map((slice) => slice.own / slice.bare));
  return `${own.toFixed(2)} ms, ${ratio.toFixed(1)} × ${bare.toFixed(2)} ms`;
}
