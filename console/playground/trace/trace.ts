/**
 * What happened to the latest messages of a conversation, and the runs of its flows. A message is read again
 * after each of its events, and while it or one of its webhooks is on the way.
 */
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import type { History } from "../../activity/message-history.tsx";
import type { Message } from "../../inbox/conversation/open-conversation.ts";
import { type LiveEvent, listen } from "../../live/live.ts";
import { createRefresher } from "../../live/refresh.ts";
import { type Answer, call } from "../../service/call.ts";
import { describeError } from "../../service/describe-error.ts";
import { isTemporary } from "../../service/errors.ts";

export type FlowRun = Answer<"list_flow_runs">["data"][number];

export interface TraceEntry {
  readonly message: Message;
  readonly history: History;
  /** Those that were received while the page was open, the oldest first. */
  readonly events: readonly LiveEvent[];
}

export interface Trace {
  /** The newest first; undefined until they were read. */
  readonly entries: ReadonlySignal<readonly TraceEntry[] | undefined>;
  readonly runs: ReadonlySignal<readonly FlowRun[]>;
  readonly problem: ReadonlySignal<string>;
  stop(): void;
}

const mostMessages = 10;
const mostRuns = 5;
/** Attempts of webhooks have no event. */
const pollMs = 2_000;
/** Events of this many messages are kept. */
const mostEvents = 200;

export function createTrace(conversation_id: string): Trace {
  const entries = signal<readonly TraceEntry[] | undefined>(undefined);
  const runs = signal<readonly FlowRun[]>([]);
  const problem = signal("");
  const received: LiveEvent[] = [];
  const changed = new Set<string>();

  const readEntry = async (message: Message): Promise<TraceEntry> => {
    const known = entries.value?.find((entry) => entry.message.id === message.id);
    const isCurrent = known?.message.status === message.status && !changed.has(message.id);
    changed.delete(message.id);
    const events = received.filter(({ data }) => data.message_id === message.id);
    if (known !== undefined && isCurrent && isSettled(known)) {
      return { ...known, message, events };
    }
    const { data: history } = await call("explain_message", { id: message.id });
    return { message, history, events };
  };
  const read = async () => {
    try {
      const [messages, listed] = await Promise.all([
        call("list_messages", { conversation_id, per_page: mostMessages }),
        call("list_flow_runs", { conversation_id, per_page: mostRuns }),
      ]);
      const explained = await Promise.all(messages.data.map(readEntry));
      batch(() => {
        entries.value = explained;
        runs.value = listed.data;
        problem.value = "";
      });
      return true;
    } catch (error) {
      problem.value = describeError(error);
      return !isTemporary(error);
    }
  };
  const refresh = createRefresher(read, { delayMs: 150 });
  const stopListening = listen((event) => {
    if (event !== "resync") {
      keep(event, received, changed);
    }
    refresh();
  });
  const timer = setInterval(refresh, pollMs);
  refresh.start();
  return {
    entries,
    runs,
    problem,
    stop() {
      clearInterval(timer);
      stopListening();
      refresh.stop();
    },
  };
}

function keep(event: LiveEvent, received: LiveEvent[], changed: Set<string>): void {
  const { message_id } = event.data;
  if (event.id !== undefined && message_id !== undefined) {
    received.push(event);
    received.splice(0, received.length - mostEvents);
    changed.add(message_id);
  }
}

/** Whether nothing more is expected to happen to the message without an event. */
function isSettled({ message, history }: TraceEntry): boolean {
  const isOnTheWay = message.status === "queued" || message.status === "sent";
  return !isOnTheWay && !history.webhooks?.some(({ status }) => status === "pending");
}
