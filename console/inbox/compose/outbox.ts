/**
 * Messages that this browser sends. They are kept in its storage until the service has confirmed them, so
 * that neither a lost connection nor a reload loses them. Each has an idempotency key, so that a repeated
 * request sends one message.
 *
 * sending: a request runs or waits for the message before it. waiting: there is no connection, and the
 * request is repeated. failed: the service rejected it. sent: the service has it, and the page shows it
 * soon.
 */
import { signal } from "@preact/signals";
import { showLink } from "../../controls/toast.tsx";
import { shareChange } from "../../live/live.ts";
import { ofPerson } from "../../preferences.ts";
import { call, type Input } from "../../service/call.ts";
import { describeError } from "../../service/describe-error.ts";
import { isTemporary, ServiceError } from "../../service/errors.ts";
import { pause } from "../../service/pause.ts";
import { texts } from "../../texts.ts";

export interface Outgoing {
  readonly key: string;
  readonly conversation_id: string;
  readonly input: Input<"send_message">;
  /** What the page shows in place of the message. */
  readonly preview: string;
  readonly created_at: string;
  readonly state: "sending" | "waiting" | "failed" | "sent";
  readonly problem: string;
  /** The id that the service gave it; empty until then. */
  readonly message_id: string;
}

export const outbox = signal<readonly Outgoing[]>([]);

/** The service keeps the answer of an idempotency key for 24 hours. */
const repeatableMs = 12 * 3_600_000;
const firstPauseMs = 1_000;
const longestPauseMs = 15_000;

/** The end of the last request of each conversation: its messages are sent in the order of writing. */
const queues = new Map<string, Promise<void>>();

/** Names of messages that a full or blocked storage did not take: they are sent while the page stays open. */
const notStored = new Set<string>();

/** The conversations that the page shows, with their messages that were not sent. */
const shownConversations = new Set<string>();

/** Says that the page shows the messages of a conversation. @returns a function that ends it */
export function showOutgoing(conversation_id: string): () => void {
  shownConversations.add(conversation_id);
  return () => void shownConversations.delete(conversation_id);
}

export function sendLater(conversation_id: string, input: Input<"send_message">, preview: string): void {
  const outgoing: Outgoing = {
    key: crypto.randomUUID(),
    conversation_id,
    input,
    preview,
    created_at: new Date().toISOString(),
    state: "sending",
    problem: "",
    message_id: "",
  };
  outbox.value = [...outbox.value, outgoing];
  store(outgoing);
  enqueue(outgoing);
}

/** Sends a rejected message again, as a new request. */
export function sendAgain({ key, conversation_id, input, preview }: Outgoing): void {
  discard(key);
  sendLater(conversation_id, input, preview);
}

export function discard(key: string): void {
  outbox.value = outbox.value.filter((outgoing) => outgoing.key !== key);
  forget(key);
}

/** Forgets the messages that the page shows as the service has them. */
export function forgetShown(ids: ReadonlySet<string>): void {
  if (outbox.value.some(({ message_id }) => ids.has(message_id))) {
    outbox.value = outbox.value.filter(({ message_id }) => !ids.has(message_id));
  }
}

/** Continues what a reload or a crash of the browser interrupted. */
export function restoreOutbox(): void {
  const restored = (tryStorage((storage) => Object.keys(storage)) ?? [])
    .filter((name) => name.startsWith(storageKey("")))
    .flatMap(readStored)
    .sort((a, b) => a.created_at.localeCompare(b.created_at));
  // Messages that only this page has are in their queue already.
  outbox.value = [...outbox.value.filter(({ key }) => notStored.has(storageKey(key))), ...restored];
  for (const outgoing of restored) {
    if (outgoing.state !== "failed") {
      enqueue(outgoing);
    }
  }
}

function readStored(name: string): Outgoing[] {
  try {
    return [JSON.parse(localStorage.getItem(name) ?? "") as Outgoing]; // `store` wrote it
  } catch {
    return [];
  }
}

const expired = { state: "failed", problem: texts.outbox.tooOld } as const;

function isTooOld({ created_at }: Outgoing): boolean {
  return Date.now() - Date.parse(created_at) >= repeatableMs;
}

function enqueue(outgoing: Outgoing): void {
  const { conversation_id, key } = outgoing;
  const before = queues.get(conversation_id) ?? Promise.resolve();
  queues.set(
    conversation_id,
    before
      .then(() => withLock(key, () => deliver(outgoing)))
      .catch((error) => change(key, { state: "failed", problem: describeError(error) })),
  );
}

/** Two tabs do not send one message: the second one finds it confirmed. */
async function withLock(key: string, send: () => Promise<void>): Promise<void> {
  if (!navigator.locks) {
    return send();
  }
  await navigator.locks.request(`tidings-send-${key}`, async () => {
    if (isConfirmed(key)) {
      discard(key);
    } else {
      await send();
    }
  });
}

/** Whether another tab has sent the message: what is confirmed leaves the storage. */
function isConfirmed(key: string): boolean {
  const name = storageKey(key);
  return !notStored.has(name) && tryStorage((storage) => storage.getItem(name)) === null;
}

async function deliver(outgoing: Outgoing): Promise<void> {
  const { key, conversation_id, input } = outgoing;
  for (let pauseMs = firstPauseMs; outbox.value.some((one) => one.key === key); ) {
    // The computer may have slept during the pause.
    if (isTooOld(outgoing)) {
      change(key, expired);
      return;
    }
    try {
      const { data } = await call("send_message", input, { idempotencyKey: key });
      forget(key);
      change(key, { state: "sent", message_id: data.id });
      // The first event of the message comes when the channel has it, which may take long.
      shareChange(conversation_id);
      return;
    } catch (error) {
      if (!isTemporary(error) && !isRunning(error)) {
        change(key, { state: "failed", problem: describeError(error) });
        return;
      }
      change(key, { state: "waiting" });
      await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }
}

/** A request with the same key has not ended, such as the one of a connection that was cut. */
function isRunning(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "request_in_progress";
}

function change(key: string, changes: Partial<Outgoing>): void {
  outbox.value = outbox.value.map((one) => (one.key === key ? { ...one, ...changes } : one));
  const changed = outbox.value.find((one) => one.key === key);
  if (changed?.state === "failed") {
    store(changed);
    tellFailure(changed);
  }
}

/** A person who has left the conversation does not see its messages. */
function tellFailure({ conversation_id, problem }: Outgoing): void {
  if (!shownConversations.has(conversation_id)) {
    showLink(texts.outbox.notSent(problem), `/console/inbox/${conversation_id}`);
  }
}

function store(outgoing: Outgoing): void {
  const name = storageKey(outgoing.key);
  tryStorage((storage) => storage.setItem(name, JSON.stringify(outgoing)));
  if ((tryStorage((storage) => storage.getItem(name)) ?? null) === null) {
    notStored.add(name);
  } else {
    notStored.delete(name);
  }
}

function forget(key: string): void {
  tryStorage((storage) => storage.removeItem(storageKey(key)));
}

/** @returns undefined if the storage is full or blocked */
function tryStorage<Result>(access: (storage: Storage) => Result): Result | undefined {
  try {
    return access(localStorage);
  } catch {
    return undefined;
  }
}

function storageKey(key: string): string {
  return `tidings.${ofPerson("outbox")}.${key}`;
}
