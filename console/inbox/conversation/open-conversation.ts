/** The open conversation: its context, and its messages from the newest one back without a gap. */
import { batch, type Signal, signal } from "@preact/signals";
import { type LiveEvent, listen } from "../../live/live.ts";
import { createRefresher } from "../../live/refresh.ts";
import { type Answer, call } from "../../service/call.ts";
import { isTemporary } from "../../service/errors.ts";

export type Context = Answer<"get_conversation_context">["data"];
export type Message = Context["messages"][number];
export type Note = Context["notes"][number];

interface State {
  readonly context: Signal<Context | null>;
  readonly messages: Signal<readonly Message[]>;
  readonly error: Signal<unknown>;
  /** Whether there may be older messages than those read. */
  readonly hasOlder: Signal<boolean>;
}

const pageSize = 50;
/** More messages than this are in memory only while the reader looks at older ones. */
const mostKept = 500;

export function openConversation(id: string) {
  const state: State = {
    context: signal(null),
    messages: signal([]),
    error: signal(null),
    hasOlder: signal(false),
  };
  const refresh = createRefresher(() => readContext(id, state), { delayMs: 50 });
  const stopListening = listen((event) => {
    if (concerns(event, id, state)) {
      refresh();
      void readChanged(event, id, state);
    }
  });
  refresh.start();
  const readOlderOnce = singly(() => readOlder(id, state));
  return {
    id,
    ...state,
    refresh,
    readOlder: readOlderOnce,
    readBackTo: (message: string) => readBackTo(message, state, readOlderOnce),
    forgetOldest: () => forgetOldest(state),
    stop() {
      stopListening();
      refresh.stop();
    },
  };
}

export type OpenConversation = ReturnType<typeof openConversation>;

/** Reads the context and the newest messages. @returns false if it failed for now */
async function readContext(id: string, { context, messages, error, hasOlder }: State): Promise<boolean> {
  try {
    const { data } = await call("get_conversation_context", { id, messages: pageSize });
    const [oldest] = data.messages;
    const overlaps = messages.value.some((known) => known.id === oldest?.id);
    batch(() => {
      hasOlder.value = overlaps ? hasOlder.value : data.messages.length === pageSize;
      // Without an overlap, messages between the known and the new ones are missing: begin anew.
      messages.value = overlaps ? merge(messages.value, data.messages) : data.messages;
      context.value = data;
      error.value = null;
    });
    return true;
  } catch (thrown) {
    error.value = thrown;
    return !isTemporary(thrown);
  }
}

async function readOlder(id: string, { messages, error, hasOlder }: State): Promise<void> {
  if (!hasOlder.value) {
    return;
  }
  try {
    const page = Math.floor(messages.value.length / pageSize) + 1;
    const { data } = await call("list_messages", { conversation_id: id, page, per_page: pageSize });
    batch(() => {
      messages.value = merge(messages.value, data);
      hasOlder.value = data.length === pageSize;
    });
  } catch (thrown) {
    error.value = thrown;
  }
}

/** The most pages that are read for one message; each takes about 20 ms. */
const mostPagesBack = 40;

/** Reads older messages until this one is there. @returns whether it is */
async function readBackTo(
  message: string,
  { messages, error, hasOlder }: State,
  readOlderOnce: () => Promise<void>,
): Promise<boolean> {
  const isThere = () => messages.value.some(({ id }) => id === message);
  for (let page = 0; page < mostPagesBack && hasOlder.value && !isThere(); page += 1) {
    await readOlderOnce();
    if (error.value !== null) {
      break;
    }
  }
  return isThere();
}

/** Keeps the memory of a long conversation small. What is forgotten is read again when it is wanted. */
function forgetOldest({ messages, hasOlder }: State): void {
  if (messages.value.length > mostKept) {
    batch(() => {
      messages.value = messages.value.slice(-mostKept / 2);
      hasOlder.value = true;
    });
  }
}

function concerns(event: LiveEvent | "resync", id: string, { context }: State): boolean {
  if (event === "resync") {
    return true;
  }
  const { conversation_id, contact_id } = event.data;
  return conversation_id === id || (contact_id !== undefined && contact_id === context.value?.contact.id);
}

/** Reads the message that an event is about, unless it is one of the newest, which the context has. */
async function readChanged(event: LiveEvent | "resync", id: string, { messages }: State): Promise<void> {
  const changed = event === "resync" ? undefined : event.data.message_id;
  const isOld = messages.value.slice(0, -pageSize).some((message) => message.id === changed);
  if (changed === undefined || !isOld) {
    return;
  }
  try {
    const { data } = await call("get_message", { conversation_id: id, message_id: changed });
    messages.value = merge(messages.value, [data]);
  } catch {
    // The message keeps its former status until the conversation is opened again.
  }
}

/** Leaves out calls while one runs. */
function singly(act: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= act().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Oldest first; of a message that is in both, the second one stays. */
function merge(known: readonly Message[], read: readonly Message[]): readonly Message[] {
  const byId = new Map([...known, ...read].map((message) => [message.id, message]));
  return [...byId.values()].sort((a, b) => compare(a.created_at, b.created_at) || compare(a.id, b.id));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
