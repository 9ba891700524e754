/**
 * Who waits for messages in this process, and what wakes them: the commit of a message here, or a look at
 * what other processes committed. One look serves everybody who waits in an organization, and nothing is
 * held in between: no transaction, no connection.
 */
import { fail } from "../../../../tools/errors.ts";
import { createSignal, type Signal } from "../../../jobs/signal.ts";
import type { World } from "../../kernel/index.ts";
import { beginAt, readTouched } from "./arrivals.ts";
import type { Cursor } from "./cursor.ts";

export interface Wanted {
  readonly organization: string;
  /** Any when left out. */
  readonly conversation_id: string | undefined;
  readonly credential: string;
}

export interface Waiter extends Disposable {
  /** Set when a message may have arrived. */
  readonly signal: Signal;
}

export interface Waiters {
  /** A message arrived in this conversation. */
  notify(organization: string, conversation_id: string): void;
  /** @throws Failure `rate_limited` when the credential waits too often already. */
  add(wanted: Wanted): Waiter;
}

/** How often others' messages are looked for. */
const lookEveryMs = 500;

/**
 * Waiting calls that one credential may have: an assistant needs one, and a connection is held for each.
 * Of the requests that it may have running at the MCP face (64) they leave enough for all else.
 */
const mostWaiting = 20;
const retryAfterSeconds = 5;

const houses = new WeakMap<World, Waiters>();

/** The waiters of this house. */
export function waitersOf(world: World): Waiters {
  const known = houses.get(world);
  if (known) {
    return known;
  }
  const made = createWaiters(world);
  houses.set(world, made);
  return made;
}

/** Those who wait in one organization. */
interface Room {
  readonly organization: string;
  readonly waiting: Map<Signal, Wanted>;
  /** Who came since the last look: it can't know what they had read by then, so they read again. */
  readonly fresh: Set<Signal>;
  /** Up to here others' messages are known. */
  seen: Cursor | undefined;
  isLooking: boolean;
  readonly timer: NodeJS.Timeout;
}

function createWaiters(world: World): Waiters {
  const rooms = new Map<string, Room>();

  const open = (organization: string): Room => {
    const timer = setInterval(() => void look(world, room), lookEveryMs);
    const room: Room = {
      organization,
      waiting: new Map(),
      fresh: new Set(),
      seen: undefined,
      isLooking: false,
      timer,
    };
    rooms.set(organization, room);
    return room;
  };
  return {
    notify(organization, conversation_id) {
      const room = rooms.get(organization);
      if (room) {
        wake(room, conversation_id);
      }
    },
    add(wanted) {
      const room = rooms.get(wanted.organization) ?? open(wanted.organization);
      const theirs = [...room.waiting.values()].filter(({ credential }) => credential === wanted.credential);
      if (theirs.length >= mostWaiting) {
        throw fail("rate_limited", { retry_after: retryAfterSeconds });
      }
      const signal = createSignal();
      room.waiting.set(signal, wanted);
      room.fresh.add(signal);
      return {
        signal,
        [Symbol.dispose]() {
          room.waiting.delete(signal);
          room.fresh.delete(signal);
          if (room.waiting.size === 0) {
            clearInterval(room.timer);
            rooms.delete(room.organization);
          }
        },
      };
    },
  };
}

function wake({ waiting }: Room, arrived: string): void {
  for (const [signal, { conversation_id }] of waiting) {
    if (conversation_id === undefined || conversation_id === arrived) {
      signal.set();
    }
  }
}

/** Looks what was committed since the last look, by whichever process. */
async function look({ database, now, log }: World, room: Room): Promise<void> {
  if (room.isLooking) {
    return;
  }
  room.isLooking = true;
  const { organization, seen, fresh } = room;
  const came = [...fresh];
  try {
    const place = { db: database.queries, organization, now: now() };
    const { conversations, next } = seen
      ? await readTouched(seen, place)
      : { conversations: [], next: await beginAt(undefined, place) };
    room.seen = next;
    for (const signal of came) {
      fresh.delete(signal);
      signal.set();
    }
    for (const id of conversations) {
      wake(room, id);
    }
  } catch (error) {
    // The database is away or busy: the next look begins where this one did.
    log.warn({ err: error }, "Could not look for messages that others took");
  } finally {
    room.isLooking = false;
  }
}
