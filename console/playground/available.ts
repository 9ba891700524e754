/** Whether the person can use the playground: the simulated inboxes, and the controls of the channel. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { listen } from "../live/live.ts";
import { createRefresher } from "../live/refresh.ts";
import { type Answer, call } from "../service/call.ts";
import { isTemporary, ServiceError } from "../service/errors.ts";
import { session } from "../session/session.ts";
import { readFaults } from "./simulator.ts";

export type Inbox = Answer<"list_inboxes">["data"][number];

interface Availability {
  /** The simulated ones: no other inbox is shown as a phone. */
  readonly inboxes: readonly Inbox[];
  /** Whether the service answers the routes of the simulator. */
  readonly hasControls: boolean;
}

const stored = signal<Availability | null>(null);
/** Null until it is known, and for a role that can't write. */
export const availability: ReadonlySignal<Availability | null> = stored;

/** Whether the role has all of the scopes. */
export function mayDo(...scopes: readonly string[]): boolean {
  return scopes.every((scope) => session.value?.user.scopes.includes(scope));
}

/** Whether the bar has the page. */
export function isPlaygroundOffered(): boolean {
  const { inboxes, hasControls } = stored.value ?? { inboxes: [], hasControls: false };
  return hasControls && inboxes.length > 0;
}

async function readAvailability(): Promise<void> {
  const { data } = await call("list_inboxes", {});
  const hasControls = await hasRoutes();
  stored.value = { inboxes: data.filter(({ simulated }) => simulated), hasControls };
}

/** The routes answer 404 if TIDINGS_SIMULATOR is off. */
async function hasRoutes(): Promise<boolean> {
  try {
    await readFaults();
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) {
      return false;
    }
    throw error;
  }
}

/** @returns a function that ends it */
export function watchAvailability(): () => void {
  if (!mayDo("inbox:read", "inbox:write")) {
    return () => undefined;
  }
  const read = async () => {
    try {
      await readAvailability();
      return true;
    } catch (error) {
      return !isTemporary(error);
    }
  };
  const refresh = createRefresher(read, { delayMs: 300 });
  const stopListening = listen((event) => {
    if (event === "resync") {
      refresh();
    }
  });
  refresh.start();
  return () => {
    stopListening();
    refresh.stop();
    stored.value = null;
  };
}
