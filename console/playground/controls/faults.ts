/** The failures that the channel injects now. The panel sets them, and a notice names them. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { createRefresher } from "../../live/refresh.ts";
import { isTemporary } from "../../service/errors.ts";
import { texts } from "../../texts.ts";
import { type Faults, readFaults, replaceFaults } from "../simulator.ts";

const words = texts.playground.faults;
export const faultShares = ["lost_receipts", "doubled_receipts", "swapped_receipts", "lost_answers"] as const;

const stored = signal<Faults | null>(null);
/** Null until they were read. */
export const presentFaults: ReadonlySignal<Faults | null> = stored;

/** Another person, and the API, may set them without an event. */
const pollMs = 5_000;

/** @returns a function that ends it */
export function watchFaults(): () => void {
  const refresh = createRefresher(
    async () => {
      try {
        stored.value = await readFaults();
        return true;
      } catch (error) {
        return !isTemporary(error);
      }
    },
    { delayMs: 100 },
  );
  const timer = setInterval(() => refresh(), pollMs);
  refresh.start();
  return () => {
    clearInterval(timer);
    refresh.stop();
    stored.value = null;
  };
}

/** Changes what the service has: another person may have changed it. @throws ServiceError, ConnectionError */
export async function changeFaults(update: (present: Faults) => Partial<Faults>): Promise<void> {
  const present = await readFaults();
  stored.value = await replaceFaults({ ...present, ...update(present) });
}

/** @throws ServiceError, ConnectionError */
export async function resetFaults(): Promise<void> {
  stored.value = await replaceFaults({});
}

/** What fails for this phone, one line for each; delays are no failures. */
export function describeFaults(faults: Faults, number: string): string[] {
  const failures = faults.failures.filter(({ share, to }) => share > 0 && (to ?? number) === number);
  return [
    ...failures.map(({ code, share }) => words.line(words.failing, words.share(share), words.codeName(code))),
    ...faultShares
      .filter((name) => faults[name] > 0)
      .map((name) => words.line(words.shares[name], words.share(faults[name]), "")),
  ];
}
