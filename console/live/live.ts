/**
 * Live events of the organization. One tab of the browser reads the stream and shares it with the other tabs,
 * because a browser opens few connections to a host. When that tab closes, another tab continues after the
 * last event that it got.
 *
 * Events only say that something has changed: what changed is read from the API. `resync` says that events
 * may be missing, so that everything shown must be read again. What a page shows is first read when the
 * stream is open (`untilLive`): it is then read once.
 */
import { signal } from "@preact/signals";
import { authorized } from "../service/call.ts";
import { ServiceError } from "../service/errors.ts";
import { pause } from "../service/pause.ts";
import { session } from "../session/session.ts";
import { parseEvents, type StreamedEvent } from "./parse-events.ts";

export interface LiveEvent {
  /** Undefined if the page has caused it itself, before the service's event. */
  readonly id?: string;
  readonly type: string;
  /** The members that the console reads. */
  readonly data: {
    readonly conversation_id?: string;
    readonly contact_id?: string;
    readonly message_id?: string;
    /** The ids of the users whom a note is for. */
    readonly mentions?: readonly string[];
    readonly author?: { readonly name: string };
  };
}

/** A person who has a conversation open. */
interface Presence {
  readonly conversation_id: string;
  readonly user_id: string;
  readonly user_name: string;
  readonly is_writing: boolean;
}

type Shared =
  | { readonly id: string; readonly event: LiveEvent | null }
  | { readonly isConnected: boolean }
  | { readonly presences: readonly Presence[] };
type Listener = (event: LiveEvent | "resync") => void;

export const isConnected = signal(true);
export const presences = signal<readonly Presence[]>([]);

const listeners = new Set<Listener>();
const firstDelayMs = 500;
const longestDelayMs = 15_000;
/** The service sends a heartbeat every 15 seconds. */
const silenceMs = 40_000;

/** Proxies may hold back an answer that does not end: the page then shows what it can without the stream. */
const longestWaitMs = 500;

let cursor = "";
let live = createGate();
let isLive = false;
let channel: BroadcastChannel | undefined;

/** @returns a function that removes the listener */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Resolves when no event is missed after it: this tab has a stream, or another tab has one. It resolves soon
 * without a stream too; `resync` follows then.
 */
export function untilLive(): Promise<void> {
  return live.promise;
}

function createGate() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function setLive(): void {
  isLive = true;
  live.resolve();
}

/** @param name tells the streams of several persons in one browser apart. */
export function startLive(name: string): () => void {
  const controller = new AbortController();
  cursor = "";
  const timer = setTimeout(setLive, longestWaitMs);
  channel = new BroadcastChannel(`tidings-live-${name}`);
  channel.onmessage = ({ data }: MessageEvent<Shared>) => receive(data);
  // Without a secure context there are no locks: each tab then has its own stream.
  const run = () => readStreams(controller.signal);
  if (navigator.locks) {
    readWhenFirst(`tidings-live-${name}`, controller.signal, run).catch(() => undefined);
  } else {
    void run();
  }
  return () => {
    clearTimeout(timer);
    isLive = false;
    live = createGate();
    controller.abort();
    channel?.close();
    channel = undefined;
  };
}

/** Reads in one tab; another one waits until that tab is closed, and has its events meanwhile. */
async function readWhenFirst(lock: string, signal: AbortSignal, run: () => Promise<void>): Promise<void> {
  const isFirst = await navigator.locks.request(lock, { ifAvailable: true }, async (held) => {
    await (held && run());
    return held !== null;
  });
  if (!isFirst && !signal.aborted) {
    setLive();
    await navigator.locks.request(lock, { signal }, run);
  }
}

async function readStreams(signal: AbortSignal): Promise<void> {
  for (let delay = firstDelayMs; !signal.aborted; delay = Math.min(delay * 2, longestDelayMs)) {
    try {
      await readStream(signal, () => {
        delay = firstDelayMs;
      });
    } catch (error) {
      // A token may end twice within a moment, if the clock of a sandbox is moved: the session goes on.
      if (error instanceof ServiceError && error.status === 401 && session.value === null) {
        return;
      }
      if (error instanceof ServiceError && error.code === "invalid_cursor") {
        cursor = "";
      }
    }
    if (!signal.aborted) {
      share({ isConnected: false });
      await pause(delay * (0.5 + Math.random() / 2), signal);
    }
  }
}

async function readStream(signal: AbortSignal, onEvent: () => void): Promise<void> {
  const silence = abortWhenSilent(signal);
  try {
    const { body } = await authorized("/v1/events/stream?presence=true", {
      headers: cursor === "" ? {} : { "last-event-id": cursor },
      signal: silence.signal,
    });
    for await (const received of body === null ? [] : parseEvents(body)) {
      silence.restart();
      if (received !== null) {
        onEvent();
        shareReceived(received);
      }
    }
  } finally {
    silence.end();
  }
}

/** A signal that aborts with the given one, and when `restart` was not called for too long. */
function abortWhenSilent(signal: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timer = setTimeout(abort, silenceMs);
  signal.addEventListener("abort", abort);
  return {
    signal: controller.signal,
    restart() {
      clearTimeout(timer);
      timer = setTimeout(abort, silenceMs);
    },
    end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

function shareReceived({ id, type, data }: StreamedEvent): void {
  if (type === "open" || type === "gap") {
    share({ isConnected: true });
    share({ presences: [] });
    shareOpened(id);
  } else if (type === "presence") {
    share({ presences: JSON.parse(data) as Presence[] }); // as the service describes the stream
  } else {
    share({ id, event: JSON.parse(data) as LiveEvent }); // as the service's event schemas say
  }
}

/** Nothing was read in this tab before its first stream is open, so there is nothing to read again. */
function shareOpened(id: string): void {
  if (isLive) {
    share({ id, event: null });
  } else {
    cursor = id;
    channel?.postMessage({ id, event: null } satisfies Shared);
    setLive();
  }
}

/** Says here and in the other tabs that this page has changed a conversation, before the service's event. */
export function shareChange(conversation_id: string): void {
  share({ id: cursor, event: { type: "conversation.changed", data: { conversation_id } } });
}

/** Handles something here and in the other tabs. */
function share(shared: Shared): void {
  channel?.postMessage(shared);
  receive(shared);
}

function receive(shared: Shared): void {
  if ("isConnected" in shared) {
    isConnected.value = shared.isConnected;
    return;
  }
  if ("presences" in shared) {
    presences.value = shared.presences;
    return;
  }
  cursor = shared.id;
  for (const listener of listeners) {
    listener(shared.event ?? "resync");
  }
}
