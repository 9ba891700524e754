/**
 * Splits the bytes from a client of the PostgreSQL protocol into groups of messages that are run together.
 */

/** Complete messages. The last message requires an answer. */
export interface MessageGroup {
  /** The kind of the last message. The first message of a connection is the startup message. */
  readonly last: Kind;
  readonly bytes: Uint8Array;
}

type Kind = "startup" | "query" | "sync" | "call" | "flush" | "terminate";

/** The kinds of messages that end a group, by their first byte. */
const kinds = new Map<number | undefined, Kind>([
  [0x51, "query"],
  [0x53, "sync"],
  [0x46, "call"],
  [0x48, "flush"],
  [0x58, "terminate"],
]);

/** The length in a message includes itself and the rest of the message. */
const lengthBytes = 4;

/** Each connection has its own instance. The bytes may arrive in parts of any size. */
export class MessageGroups {
  #rest: Uint8Array = new Uint8Array();
  #isStarted = false;

  /** The groups that `part` completes. */
  *add(part: Uint8Array): Generator<MessageGroup> {
    const bytes = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    let start = 0;
    let end = 0;
    for (;;) {
      const next = this.#endOfMessage(bytes, end);
      if (next === undefined) {
        break;
      }
      const last = this.#isStarted ? kinds.get(bytes[end]) : "startup";
      this.#isStarted = true;
      end = next;
      if (last !== undefined) {
        yield { last, bytes: bytes.subarray(start, end) };
        start = end;
      }
    }
    this.#rest = bytes.subarray(start);
  }

  /** Returns undefined if the message that begins at `start` is incomplete. */
  #endOfMessage(bytes: Uint8Array, start: number): number | undefined {
    const lengthAt = this.#isStarted ? start + 1 : start;
    if (bytes.length < lengthAt + lengthBytes) {
      return undefined;
    }
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(lengthAt);
    if (length < lengthBytes) {
      throw new Error("A message of the database's client has no valid length.");
    }
    const end = lengthAt + length;
    return end <= bytes.length ? end : undefined;
  }
}
