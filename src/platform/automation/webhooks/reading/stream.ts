/**
 * One stream of events, as Server-Sent Events: a bounded queue between the poll that reads the events and the
 * connection that takes them.
 *
 * While the queue is full, the poll reads nothing more for it. A connection that takes nothing is closed, and
 * its client continues after the last event that it got.
 */
import type { Caller } from "../../../../ports/transport/caller.ts";
import type { RecordedEvent } from "./list-events.ts";

/** In characters; an event has about 500. */
const fullAt = 500_000;

export interface StreamStart {
  readonly caller: Caller;
  readonly types: ReadonlySet<string>;
  /** The events after this cursor are sent. */
  readonly cursor: string;
  /** The text of a cursor, as clients get it. */
  writeCursor(cursor: string): string;
  readonly showsPresence: boolean;
}

export class EventStream implements AsyncIterable<Uint8Array> {
  readonly caller: Caller;
  readonly types: ReadonlySet<string>;
  readonly showsPresence: boolean;
  /** What the poll has read. */
  cursor: string;
  readonly #writeCursor: StreamStart["writeCursor"];
  readonly #onClose: (stream: EventStream) => void;
  /** The presence that was sent last, as JSON. */
  #presence = "[]";
  #queue: string[] = [];
  #size = 0;
  #isClosed = false;
  /** Whether the connection has taken something since the last heartbeat. */
  #hasTaken = true;
  #wake: (() => void) | undefined;

  constructor(
    { caller, types, cursor, writeCursor, showsPresence }: StreamStart,
    onClose: (stream: EventStream) => void,
  ) {
    this.caller = caller;
    this.types = types;
    this.cursor = cursor;
    this.#writeCursor = writeCursor;
    this.showsPresence = showsPresence;
    this.#onClose = onClose;
  }

  get isFull(): boolean {
    return this.#size >= fullAt;
  }

  sendEvent({ type, body, cursor }: RecordedEvent): void {
    this.#send(`id: ${this.#writeCursor(cursor)}\nevent: ${type}\ndata: ${body}\n\n`);
  }

  /**
   * Tells the client that the stream is open and continues from this cursor. gap: older events are missing,
   * so what the client shows must be read again.
   */
  sendNotice(name: "open" | "gap"): void {
    this.#send(`id: ${this.#writeCursor(this.cursor)}\nevent: ${name}\ndata: {}\n\n`);
  }

  /** Sends who has which conversation open, as JSON, if it has changed. It has no id: it is not repeated. */
  sendPresence(presence: string): void {
    if (presence !== this.#presence && !this.isFull) {
      this.#presence = presence;
      this.#send(`event: presence\ndata: ${presence}\n\n`);
    }
  }

  /** Sends a comment if there is nothing else, because proxies close connections without traffic. */
  sendHeartbeat(): void {
    if (!this.#hasTaken && this.#wake === undefined) {
      this.close();
    } else if (this.#size === 0) {
      this.#send(":\n\n");
    }
    this.#hasTaken = false;
  }

  /** What is queued is still sent. */
  close(): void {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#onClose(this);
      this.#wake?.();
    }
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: async () => {
        this.#hasTaken = true;
        while (this.#queue.length === 0 && !this.#isClosed) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
        const text = this.#queue.join("");
        this.#queue = [];
        this.#size = 0;
        return text === "" ? { done: true, value: undefined } : { done: false, value: Buffer.from(text) };
      },
      // The client has disconnected.
      return: async () => {
        this.close();
        return { done: true, value: undefined };
      },
    };
  }

  #send(text: string): void {
    if (!this.#isClosed) {
      this.#queue.push(text);
      this.#size += text.length;
      this.#wake?.();
    }
  }
}
