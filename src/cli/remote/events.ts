/** The events of the organization, as commands follow them through restarts of the service. */
import { setTimeout as sleep } from "node:timers/promises";
import { nearestName, type OutputOf } from "../../../tools/contract/index.ts";
import { webhookEvents, webhooks } from "../../../tools/webhooks.ts";
import { CallFailure, type Client, NoResponseError } from "../../client/index.ts";
import { UsageError } from "../commands/command-error.ts";

/** Fast enough for interactive use; causes two requests per second. */
export const pollMs = 500;

export type EventPage = OutputOf<typeof webhooks.list_events>;

/** Where the next events begin: after a cursor, at a time or, without both, now. */
export interface Position {
  readonly after?: string;
  readonly since?: string;
}

/**
 * The value of `--events` as `list_events` takes it; all events without one.
 * @throws UsageError that lists the known types.
 */
export function readEventsOption(list: string | undefined): string {
  const known: readonly string[] = webhookEvents;
  const types = list?.split(",").map((type) => type.trim()) ?? known;
  const unknown = types.find((type) => !known.includes(type));
  if (unknown !== undefined) {
    throw new UsageError(describeUnknownEvent(unknown));
  }
  return types.join(",");
}

export function describeUnknownEvent(type: string): string {
  const nearest = nearestName(type, webhookEvents);
  const hint = nearest === undefined ? "" : `Did you mean ${nearest}? `;
  return `There is no event ${JSON.stringify(type)}. ${hint}The events are ${webhookEvents.join(", ")}.`;
}

/** What is polled, and how a wait for the service is announced, once for each wait. */
interface Poll {
  readonly types: string;
  readonly position: Position;
  onWait(): void;
}

/**
 * The next page. Retries while the service is away or busy: the cursor is the service's own, so that events
 * of this time follow later, each once.
 * @throws any other error, such as a rejected request or an unknown certificate.
 */
export async function pollEvents(client: Client, { types, position, onWait }: Poll): Promise<EventPage> {
  for (let isAnnounced = false; ; isAnnounced = true) {
    try {
      return await client.call(webhooks.list_events, { types, ...position });
    } catch (error) {
      if (!mayPass(error, position)) {
        throw error;
      }
      if (!isAnnounced) {
        onWait();
      }
      await sleep(pollMs);
    }
  }
}

/**
 * Whether the service may answer later. After a first response, an error that is not in our envelope comes
 * from another program, which answers while the service is away.
 */
function mayPass(error: unknown, { after }: Position): boolean {
  if (error instanceof CallFailure) {
    const isForeign = error.error === undefined && after !== undefined;
    return error.status >= 500 || error.status === 429 || isForeign;
  }
  return error instanceof NoResponseError && error.isOutage;
}

/** Ends the process when the program that reads its output has ended, as `head` does. */
export function endWithReader(): void {
  process.stdout.on("error", (error) => {
    // Without a reader nothing more can be printed. Another error, such as a full disk, is a failure.
    process.exit("code" in error && error.code === "EPIPE" ? 0 : 1);
  });
}
