/** The messages on a simulated phone, the oldest first. Read again while they are shown. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { listen } from "../../live/live.ts";
import { createRefresher } from "../../live/refresh.ts";
import { describeError } from "../../service/describe-error.ts";
import { isTemporary } from "../../service/errors.ts";
import { listPhoneMessages, type PhoneMessage } from "../simulator.ts";

export interface PhoneFeed {
  /** Undefined until they were read. */
  readonly messages: ReadonlySignal<readonly PhoneMessage[] | undefined>;
  readonly problem: ReadonlySignal<string>;
  refresh(): void;
  stop(): void;
}

/** What the phone shows may change without an event, for example if a receipt is lost. */
const pollMs = 2_000;

export function createPhoneFeed(number: string): PhoneFeed {
  const messages = signal<readonly PhoneMessage[] | undefined>(undefined);
  const problem = signal("");
  const read = async () => {
    try {
      const listed = (await listPhoneMessages(number)).toReversed();
      if (JSON.stringify(listed) !== JSON.stringify(messages.value)) {
        messages.value = listed;
      }
      problem.value = "";
      return true;
    } catch (error) {
      problem.value = describeError(error);
      return !isTemporary(error);
    }
  };
  const refresh = createRefresher(read, { delayMs: 100 });
  const stopListening = listen((event) => {
    if (event === "resync" || event.type.startsWith("message.")) {
      refresh();
    }
  });
  const timer = setInterval(refresh, pollMs);
  refresh.start();
  return {
    messages,
    problem,
    refresh,
    stop() {
      clearInterval(timer);
      stopListening();
      refresh.stop();
    },
  };
}
