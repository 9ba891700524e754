/**
 * Waits until a contact writes: answers at once if there is something after the cursor, else when a message
 * commits, when the time is up, when the house stops, or when the caller hangs up.
 */
import type { z } from "zod";
import type { messages as contract } from "../../../../tools/messages/index.ts";
import { requireThread } from "../../conversations/index.ts";
import type { ReadContext } from "../../kernel/index.ts";
import { show } from "../show.ts";
import { beginAt, readArrivals } from "./arrivals.ts";
import { writeCursor } from "./cursor.ts";
import { type Waiter, waitersOf } from "./waiters.ts";

type Input = z.output<typeof contract.wait_for_message.input>;

/** How often the house's clock is asked whether the time is up. */
const tickMs = 250;

export async function waitForMessage(input: Input, context: ReadContext) {
  const { conversation_id, after, timeout_seconds } = input;
  const { world, db, organization, caller, now } = context;
  if (conversation_id !== undefined) {
    await requireThread(db, organization, conversation_id);
  }
  let cursor = await beginAt(after, { db, organization, now });
  const deadline = now.getTime() + timeout_seconds * 1000;
  const isOver = () => context.signal.aborted || world.stopping.aborted || world.now().getTime() >= deadline;
  // Waits from before the first look: a commit after it sets the signal.
  using waiter = waitersOf(world).add({ organization, conversation_id, credential: caller.credential.id });
  using _ = listen([context.signal, world.stopping], waiter.signal.set);
  for (;;) {
    waiter.signal.clear();
    const found = await readArrivals(cursor, { db, organization, conversation_id, now: world.now() });
    cursor = found.next;
    if (found.messages.length > 0 || isOver()) {
      const is_timed_out = found.messages.length === 0;
      return { messages: found.messages.map(show), cursor: writeCursor(cursor), is_timed_out };
    }
    await untilSignalled(waiter, isOver);
  }
}

/** Until something may have arrived, or it is over. */
async function untilSignalled({ signal }: Waiter, isOver: () => boolean): Promise<void> {
  while (!(await signal.wait(tickMs)) && !isOver()) {
    // The clock is not the timer's: it is asked at each tick.
  }
}

function listen(signals: readonly AbortSignal[], callback: () => void): Disposable {
  for (const signal of signals) {
    signal.addEventListener("abort", callback);
  }
  return {
    [Symbol.dispose]() {
      for (const signal of signals) {
        signal.removeEventListener("abort", callback);
      }
    },
  };
}

export { cursorAt, writeCursor } from "./cursor.ts";
export { waitersOf } from "./waiters.ts";
