/** How many plans wait for a person: the badge on every page. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { listen } from "../live/live.ts";
import { createRefresher } from "../live/refresh.ts";
import { call } from "../service/call.ts";
import { isTemporary } from "../service/errors.ts";

const stored = signal<number | null>(null);
/** Null for a person whose role may not read plans, and until the number is known. */
export const waitingCount: ReadonlySignal<number | null> = stored;

/** @returns a function that ends it */
export function watchWaiting(): () => void {
  const read = async () => {
    try {
      const { meta } = await call("list_plans", { status: "awaiting_approval", per_page: 1 });
      stored.value = meta.total;
      return true;
    } catch (error) {
      return !isTemporary(error);
    }
  };
  const refresh = createRefresher(read, { delayMs: 300 });
  const stopListening = listen((event) => {
    if (event === "resync" || event.type.startsWith("plan.")) {
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
