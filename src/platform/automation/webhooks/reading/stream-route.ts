/** Serves events as they are committed, as Server-Sent Events. */
import { z } from "zod";
import { parseFields, permits } from "../../../../../tools/contract/index.ts";
import {
  isPublicEvent,
  type PublicEventName,
  publicEvents,
  readEventTypes,
  scopesOfEvents,
} from "../../../../../tools/events.ts";
import { webhookEvents } from "../../../../../tools/webhooks.ts";
import { readSnapshot } from "../../../../database/query/index.ts";
import type { Caller } from "../../../../ports/transport/caller.ts";
import { type ModuleRoute, requireScope, type World } from "../../../foundation/kernel/index.ts";
import { datedCursor, isForgotten, openEventCursors, readPageAfter } from "./list-events.ts";
import { recordPolled } from "./polled.ts";
import { getEventStreams } from "./streams.ts";

const dayMs = 24 * 3_600_000;

const Query = z.strictObject({
  types: z
    .string()
    .max(2048)
    .refine(
      (types) => types.split(",").every((type) => isPublicEvent(type.trim())),
      `Send types of events, comma-separated: ${webhookEvents.join(", ")}.`,
    )
    .optional()
    .describe(
      "Comma-separated; each needs the scope that reads it. Default: all that the credential's scopes read",
    ),
  after: z
    .string()
    .max(4096)
    .optional()
    .describe("Cursor of list_events, or id of an event of an earlier stream. Default: from now"),
  presence: z
    .literal("true", "Send true, or leave it out.")
    .optional()
    .describe(
      "true: also sends presence, the list of who has which conversation open, whenever it changes; needs inbox:read",
    ),
});

export const eventStreamRoute: ModuleRoute = {
  methods: ["GET"],
  path: "/v1/events/stream",
  credential: "any",
  scope: null,
  operation: "list_events",
  body: "none",
  about: {
    name: "stream_events",
    tag: "webhooks",
    title: "Stream events",
    description:
      "Get events as they happen, as Server-Sent Events: id is a cursor, event the type, data the event as webhooks receive it. The first event is open. A client that reconnects sends the last id in Last-Event-ID, or in after, and misses none; gap says that the events after it are no longer kept. The stream ends when its credential does.",
    query: Query,
    response: { status: 200, body: "text/event-stream" },
  },

  async handle({ query, headers, caller }, world) {
    const sent = parseFields(Query, query);
    const types = readableTypes(caller, sent.types);
    return {
      status: 200,
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-store, no-transform",
        // nginx would collect what is sent.
        "x-accel-buffering": "no",
      },
      body: await openStream(world, {
        caller,
        types,
        after: sent.after ?? headers["last-event-id"],
        showsPresence: sent.presence !== undefined,
      }),
    };
  },
};

/** @throws Failure `insufficient_scope` for a type that is named, and if the credential reads none. */
function readableTypes(caller: Caller, listed: string | undefined): readonly PublicEventName[] {
  if (listed !== undefined) {
    const types = readEventTypes(listed);
    requireScope(caller, { all: scopesOfEvents(types) });
    return types;
  }
  const types = webhookEvents.filter((type) => permits(caller.scopes, publicEvents[type].scope));
  if (types.length === 0) {
    requireScope(caller, { any: scopesOfEvents(webhookEvents) });
  }
  return types;
}

interface Request {
  readonly caller: Caller;
  readonly types: readonly PublicEventName[];
  readonly after: string | undefined;
  readonly showsPresence: boolean;
}

/** @throws Failure `invalid_cursor`, `rate_limited`, `insufficient_scope`. */
async function openStream(world: World, { caller, types, after: sent = "", showsPresence }: Request) {
  if (showsPresence) {
    requireScope(caller, { all: ["inbox:read"] });
  }
  const { organization_id: organization } = caller;
  const { queries } = world.database;
  const texts = await openEventCursors(world);
  const after = sent === "" ? "" : texts.read(sent);
  const now = world.now();
  // Before the cursor is taken: what is emitted after it is recorded.
  await recordPolled(world, organization, { types, now });
  const start = datedCursor(await readSnapshot(queries), now);
  if (after !== "") {
    // Rejects an invalid cursor.
    await readPageAfter(queries, organization, { after, types: [] });
  }
  const oldest = new Date(now.getTime() - world.retention.events * dayMs);
  const isGap = after !== "" && isForgotten(after, oldest);
  const cursor = after === "" || isGap ? start : after;
  const stream = getEventStreams(world).open({
    caller,
    types: new Set(types),
    cursor,
    writeCursor: texts.write,
    showsPresence,
  });
  stream.sendNotice(isGap ? "gap" : "open");
  return stream;
}
