/**
 * The waiting calls of this process, and what wakes them: the commit of a message in this process, or a poll
 * for messages that other processes committed. One poll serves all waiting calls of an organization. It also
 * ends the calls whose credential has ended. Between polls no transaction and no connection is open.
 */
import { fail } from "../../../../../tools/errors.ts";
import { readSnapshot } from "../../../../database/query/index.ts";
import { createSignal, type Signal } from "../../../../jobs/signal.ts";
import { findEndedCallers } from "../../../account/auth/index.ts";
import type { Caller, World } from "../../../foundation/kernel/index.ts";
import { type Cursor, cursorAt } from "./cursor.ts";
import { readChangedConversations } from "./inbound-stream.ts";

export interface WaitFilter {
  readonly caller: Caller;
  /** The id of a conversation, a broadcast or a message. Default: any conversation. */
  readonly subject: string | undefined;
}

export interface Waiter extends Disposable {
  /** Set when a message may have arrived, and when the credential has ended. */
  readonly signal: Signal;
  /** Whether the caller's credential was revoked or has expired. */
  readonly isEnded: boolean;
}

export interface Waiters {
  /** Called when a message has arrived in this conversation, or this broadcast has progressed. */
  notify(organization: string, subject: string): void;
  /** @throws Failure `rate_limited` if the credential or the organization has too many waiting calls. */
  add(filter: WaitFilter): Waiter;
  /** Undefined if it has too many: for a call that need not wait. */
  addIfAllowed(filter: WaitFilter): Waiter | undefined;
}

/** How often to look for messages that other processes committed. */
const pollEveryMs = 500;

/**
 * An assistant needs one waiting call, and each occupies an HTTP connection. Of the 64 concurrent requests
 * that a credential may have over MCP, this leaves enough for everything else.
 */
const maxWaitsPerCredential = 20;
const retryAfterSeconds = 5;

const waitersByWorld = new WeakMap<World, Waiters>();

/** The waiting calls of this app. */
export function getWaiters(world: World): Waiters {
  const existing = waitersByWorld.get(world);
  if (existing) {
    return existing;
  }
  const waiters = createWaiters(world);
  waitersByWorld.set(world, waiters);
  return waiters;
}

/** The waiting calls of one organization. */
interface WaitGroup {
  readonly organization: string;
  readonly filters: Map<Signal, WaitFilter>;
  /** Added since the last poll. They read again after it, because a message may have committed in between. */
  readonly unpolled: Set<Signal>;
  /** The calls whose credential has ended. */
  readonly ended: WeakSet<Signal>;
  /** The cursor after the last poll. */
  seen: Cursor | undefined;
  isPolling: boolean;
  readonly timer: NodeJS.Timeout;
}

function createWaiters(world: World): Waiters {
  const groups = new Map<string, WaitGroup>();

  const openGroup = (organization: string): WaitGroup => {
    const group: WaitGroup = {
      organization,
      filters: new Map(),
      unpolled: new Set(),
      ended: new WeakSet(),
      seen: undefined,
      isPolling: false,
      timer: setInterval(() => void poll(world, group), pollEveryMs),
    };
    groups.set(organization, group);
    return group;
  };
  const addIfAllowed = (filter: WaitFilter): Waiter | undefined => {
    const { organization_id, credential } = filter.caller;
    const group = groups.get(organization_id) ?? openGroup(organization_id);
    const { filters, unpolled } = group;
    const waits = [...filters.values()].filter(({ caller }) => caller.credential.id === credential.id);
    if (waits.length >= maxWaitsPerCredential || filters.size >= world.quotas.waitingCalls) {
      return undefined;
    }
    const signal = createSignal();
    filters.set(signal, filter);
    unpolled.add(signal);
    return {
      signal,
      get isEnded() {
        return group.ended.has(signal);
      },
      [Symbol.dispose]() {
        filters.delete(signal);
        unpolled.delete(signal);
        if (filters.size === 0) {
          clearInterval(group.timer);
          groups.delete(group.organization);
        }
      },
    };
  };
  return {
    notify(organization, subject) {
      const group = groups.get(organization);
      if (group) {
        notifyGroup(group, subject);
      }
    },
    add(filter) {
      const waiter = addIfAllowed(filter);
      if (!waiter) {
        throw fail("rate_limited", { retry_after: retryAfterSeconds });
      }
      return waiter;
    },
    addIfAllowed,
  };
}

function notifyGroup({ filters }: WaitGroup, changed: string): void {
  for (const [signal, { subject }] of filters) {
    if (subject === undefined || subject === changed) {
      signal.set();
    }
  }
}

/** Ends the calls whose credential was revoked or has expired since they began. */
async function endRevoked({ database, now }: World, { filters, ended }: WaitGroup): Promise<void> {
  const callers = [...filters.values()].map(({ caller }) => caller);
  const endedCallers = await findEndedCallers(database.queries, callers, { now: now() });
  for (const [signal, { caller }] of filters) {
    if (endedCallers.has(caller)) {
      ended.add(signal);
      signal.set();
    }
  }
}

/** Looks for messages that were committed since the last poll, by any process. */
async function poll(world: World, group: WaitGroup): Promise<void> {
  const { database, now, log } = world;
  if (group.isPolling) {
    return;
  }
  group.isPolling = true;
  const { organization, seen, unpolled } = group;
  const added = [...unpolled];
  try {
    const query = { db: database.queries, organization, now: now() };
    const { conversations, next } = seen
      ? await readChangedConversations(seen, query)
      : { conversations: [], next: cursorAt(await readSnapshot(query.db), query.now) };
    group.seen = next;
    for (const signal of added) {
      unpolled.delete(signal);
      signal.set();
    }
    for (const id of conversations) {
      notifyGroup(group, id);
    }
    await endRevoked(world, group);
  } catch (error) {
    // The database is unavailable or busy: the next poll starts from the same cursor.
    log.warn({ err: error }, "Could not poll for messages of other processes");
  } finally {
    group.isPolling = false;
  }
}
