/**
 * The streams of events of this process. One poll for each organization reads the events for all its streams;
 * between polls no transaction and no connection is open.
 *
 * A stream that continues from an older cursor reads up to the cursor of the others first, and then reads
 * with them.
 */
import { fail } from "../../../../../tools/errors.ts";
import { readSnapshot } from "../../../../database/query/index.ts";
import { findEndedCallers } from "../../../account/auth/index.ts";
import { runForCaller, type World } from "../../../foundation/kernel/index.ts";
import { boundCursor, type EventsAfter, readPageAfter } from "./list-events.ts";
import { recordPolled } from "./polled.ts";
import { readPresences } from "./presence.ts";
import { EventStream, type StreamStart } from "./stream.ts";

const pollEveryMs = 400;
/** Proxies close connections without traffic after 30 seconds or more. */
const heartbeatEveryMs = 15_000;
/** How soon a stream ends after its credential has. */
const checkEveryMs = 2_000;
/** How often the types of the open streams are recorded again, so that their events remain recorded. */
const recordEveryMs = 3_600_000;

/** A browser needs one for all its pages. */
const maxStreamsPerCredential = 10;
const maxStreams = 1_000;
const retryAfterSeconds = 5;

interface Group {
  readonly organization: string;
  readonly streams: Set<EventStream>;
  isBusy: boolean;
  checkedAt: number;
  beatenAt: number;
  /** In the time of the world. */
  recordedAt: number;
  readonly timer: NodeJS.Timeout;
}

export interface EventStreams {
  /** @throws Failure `rate_limited`, `unavailable`. */
  open(start: StreamStart): EventStream;
}

const streamsByWorld = new WeakMap<World, EventStreams>();

/** The streams of this app. */
export function getEventStreams(world: World): EventStreams {
  const streams = streamsByWorld.get(world) ?? createEventStreams(world);
  streamsByWorld.set(world, streams);
  return streams;
}

function createEventStreams(world: World): EventStreams {
  const groups = new Map<string, Group>();

  const openGroup = (organization: string): Group => {
    const group: Group = {
      organization,
      streams: new Set(),
      isBusy: false,
      checkedAt: performance.now(),
      beatenAt: performance.now(),
      recordedAt: world.now().getTime(),
      timer: setInterval(() => void advance(world, group), pollEveryMs),
    };
    groups.set(organization, group);
    return group;
  };
  const closeGroup = (group: Group) => {
    clearInterval(group.timer);
    groups.delete(group.organization);
  };
  world.stopping.addEventListener("abort", () => {
    for (const stream of [...groups.values()].flatMap(({ streams }) => [...streams])) {
      stream.close();
    }
  });

  return {
    open(start) {
      const { organization_id, credential } = start.caller;
      if (world.stopping.aborted) {
        throw fail("unavailable", { reason: "it is stopping.", retry_after: retryAfterSeconds });
      }
      const all = [...groups.values()].flatMap(({ streams }) => [...streams]);
      const own = all.filter(({ caller }) => caller.credential.id === credential.id);
      if (own.length >= maxStreamsPerCredential || all.length >= maxStreams) {
        throw fail("rate_limited", { retry_after: retryAfterSeconds });
      }
      const group = groups.get(organization_id) ?? openGroup(organization_id);
      const stream = new EventStream(start, (closed) => {
        group.streams.delete(closed);
        if (group.streams.size === 0) {
          closeGroup(group);
        }
      });
      group.streams.add(stream);
      return stream;
    },
  };
}

/** Reads what is new, checks the credentials, and keeps the connections alive. */
async function advance(world: World, group: Group): Promise<void> {
  if (group.isBusy) {
    return;
  }
  group.isBusy = true;
  try {
    const now = performance.now();
    await runForCaller(group.organization, async () => {
      if (now - group.checkedAt >= checkEveryMs) {
        await endRevoked(world, group);
        group.checkedAt = now;
      }
      await recordTypes(world, group);
      await readAll(world, group);
      await showPresence(world, group);
    });
    if (now - group.beatenAt >= heartbeatEveryMs) {
      group.beatenAt = now;
      for (const stream of group.streams) {
        stream.sendHeartbeat();
      }
    }
  } catch (error) {
    // The database is unavailable or busy: the next poll starts from the same cursors.
    world.log.warn({ err: error }, "Could not read events for the streams");
  } finally {
    group.isBusy = false;
  }
}

async function endRevoked({ database, now }: World, { streams }: Group): Promise<void> {
  const callers = [...streams].map(({ caller }) => caller);
  const ended = await findEndedCallers(database.queries, callers, {
    now: now(),
    operation: "list_events",
  });
  for (const stream of streams) {
    if (ended.has(stream.caller)) {
      stream.close();
    }
  }
}

async function recordTypes(world: World, group: Group): Promise<void> {
  const now = world.now();
  if (now.getTime() - group.recordedAt >= recordEveryMs) {
    await recordPolled(world, group.organization, { types: typesOf([...group.streams]), now });
    group.recordedAt = now.getTime();
  }
}

async function showPresence({ database, now }: World, { organization, streams }: Group): Promise<void> {
  const readers = [...streams].filter(({ showsPresence }) => showsPresence);
  if (readers.length === 0) {
    return;
  }
  const presence = JSON.stringify(await readPresences(database.queries, organization, now()));
  for (const reader of readers) {
    reader.sendPresence(presence);
  }
}

/** Pages that one poll reads; the next one continues. */
const maxPages = 20;

/** Reads for all streams up to one snapshot. */
async function readAll({ database }: World, { organization, streams }: Group): Promise<void> {
  const until = await readSnapshot(database.queries);
  for (let page = 0; page < maxPages; page += 1) {
    const behind = [...streams].filter(({ cursor, isFull }) => cursor !== until && !isFull);
    const [first] = behind;
    if (!first) {
      return;
    }
    const readers = behind.filter(({ cursor }) => cursor === first.cursor);
    const types = typesOf(readers);
    const after = boundCursor(first.cursor, until);
    deliver(readers, await readPageAfter(database.queries, organization, { after, types }));
  }
}

function typesOf(streams: readonly EventStream[]): readonly string[] {
  return [...new Set(streams.flatMap(({ types }) => [...types]))];
}

function deliver(readers: readonly EventStream[], { events, next }: EventsAfter): void {
  for (const reader of readers) {
    for (const event of events.filter(({ type }) => reader.types.has(type))) {
      reader.sendEvent(event);
    }
    reader.cursor = next;
  }
}
