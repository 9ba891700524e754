/**
 * Waits until a contact writes. Returns at once if there are messages after the cursor; otherwise when a
 * message commits, the timeout is over, the app stops, the credential ends, or the caller disconnects.
 */
import type { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import type { messages as contract } from "../../../../../tools/messages/index.ts";
import type { Queries } from "../../../../database/database.ts";
import { requireActiveOrganization } from "../../../account/identity/index.ts";
import type { ReadContext } from "../../../foundation/kernel/index.ts";
import { requireConversation } from "../../conversations/index.ts";
import { serializeMessage } from "../serialize.ts";
import { openMessageCursors } from "./cursor.ts";
import { readInbound, startCursor } from "./inbound-stream.ts";
import { getWaiters, type Waiter } from "./waiters.ts";

type Input = z.output<typeof contract.wait_for_message.input>;

/** How often the app's clock is checked for the timeout. */
const tickMs = 250;

export async function waitForMessage(input: Input, context: ReadContext) {
  const { conversation_id, after, timeout_seconds } = input;
  const { world, db, organization, caller, now } = context;
  if (conversation_id !== undefined) {
    await requireConversation(db, organization, conversation_id);
  }
  const cursors = await openMessageCursors(world);
  let cursor = await startCursor(after, { db, organization, now, cursors });
  const deadline = now.getTime() + timeout_seconds * 1000;
  const isOver = () => context.signal.aborted || world.stopping.aborted || world.now().getTime() >= deadline;
  // Added before the first read, so that a commit after that read sets the signal.
  using waiter = getWaiters(world).add({ caller, subject: conversation_id });
  using _ = onAbort([context.signal, world.stopping], waiter.signal.set);
  for (;;) {
    waiter.signal.clear();
    await requireLive(waiter, db, organization);
    const { messages, next } = await readInbound(cursor, {
      db,
      organization,
      conversation_id,
      now: world.now(),
    });
    cursor = next;
    if (messages.length > 0 || isOver()) {
      return {
        data: messages.map((row) => serializeMessage(world, row)),
        meta: { cursor: cursors.write(cursor), is_timed_out: messages.length === 0 },
      };
    }
    await untilSignalled(waiter, isOver);
  }
}

/**
 * @throws Failure `credential_invalid`, `organization_suspended` once the credential of a
 * waiting call has ended.
 */
async function requireLive(waiter: Waiter, db: Queries, organization: string): Promise<void> {
  if (waiter.isEnded) {
    await requireActiveOrganization(db, organization);
    throw fail("credential_invalid");
  }
}

/** Resolves when a message may have arrived, or the wait is over. */
async function untilSignalled({ signal }: Waiter, isOver: () => boolean): Promise<void> {
  while (!(await signal.wait(tickMs)) && !isOver()) {
    // The deadline is read from the app's clock, which a test may advance, so it is checked at each tick.
  }
}

function onAbort(signals: readonly AbortSignal[], callback: () => void): Disposable {
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

interface Wait {
  /** The id of the broadcast or the plan. */
  readonly id: string;
  readonly timeout_seconds: number;
}

/** How often the record is read that a call waits for. */
const pollMs = 250;

/**
 * Reads a record until it is no longer pending, or the wait is over as that of `waitForMessage` is.
 * @returns the record as it was read last.
 */
export async function waitWhilePending<Seen>(
  { id, timeout_seconds }: Wait,
  { world, db, organization, caller, now, signal }: ReadContext,
  { read, isPending }: { read(): Promise<Seen>; isPending(seen: Seen): boolean },
): Promise<{ readonly seen: Seen; readonly is_timed_out: boolean }> {
  const deadline = now.getTime() + timeout_seconds * 1000;
  const isOver = () => signal.aborted || world.stopping.aborted || world.now().getTime() >= deadline;
  using waiter = getWaiters(world).add({ caller, subject: id });
  for (;;) {
    waiter.signal.clear();
    await requireLive(waiter, db, organization);
    const seen = await read();
    const is_timed_out = isPending(seen);
    if (!is_timed_out || isOver()) {
      return { seen, is_timed_out };
    }
    await waiter.signal.wait(pollMs);
  }
}

export { cursorAt, openMessageCursors } from "./cursor.ts";
export { getWaiters } from "./waiters.ts";
