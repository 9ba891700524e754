/** What a queued message waits for, from what is stored of it and of its inbox. */
import type { z } from "zod";
import type { WaitingFor } from "../../../../../tools/messages/index.ts";
import type { InboxHealth, MessageDelay } from "../../../../database/schema/index.ts";
import { pausedUntil } from "../../../account/inboxes/index.ts";
import type { MessageRow } from "../progress/index.ts";
import { toDeliveryError } from "../wording/index.ts";
import { sendEndedMs } from "./claim.ts";

type Wait = z.input<typeof WaitingFor>;

export interface QueuedState
  extends Pick<MessageRow, "status" | "created_at" | "claimed_at" | "content" | "delay"> {
  /** Of the inbox; undefined if it was not read. */
  readonly health?: InboxHealth | null;
}

/** Undefined for a message that is not queued. */
export function waitOf(message: QueuedState, now: Date): Wait | undefined {
  const { status, claimed_at, delay } = message;
  if (status === "sending" && claimed_at !== null && delay?.reason !== "confirmation") {
    return ofClaimed(message, { claimed_at, now });
  }
  if (status === "sending" || status === "queued") {
    return delay === null ? ofUntried(message, now) : ofDelayed(message, delay);
  }
  return undefined;
}

/** A send without a result after its time was cut off by a crash: a later attempt does not repeat it. */
function ofClaimed(
  { content: { media, template } }: QueuedState,
  { claimed_at, now }: { readonly claimed_at: string; readonly now: Date },
): Wait {
  const isOver = now.getTime() - Date.parse(claimed_at) > sendEndedMs;
  const headers = [template?.header, ...(template?.cards ?? []).map((card) => card.header)];
  const hasFile =
    media?.upload !== undefined ||
    headers.some((header) => header && "media" in header && header.media.upload !== undefined);
  const reason = isOver ? "confirmation" : hasFile ? "file" : "turn";
  return { reason, since: claimed_at, next_attempt_at: null };
}

/** It has not had its turn; a stop of its inbox holds up all its messages. */
function ofUntried({ created_at, health = null }: QueuedState, now: Date): Wait {
  const until = pausedUntil(health, now);
  if (health === null || until === undefined) {
    return { reason: "turn", since: created_at, next_attempt_at: null };
  }
  const { code, channel_code, title, detail } = toDeliveryError(health);
  const since = health.since < created_at ? created_at : health.since;
  const last_error = { code, channel_code, title, detail };
  return { reason: "stop", since, next_attempt_at: until.toISOString(), last_error };
}

function ofDelayed({ created_at }: QueuedState, delay: MessageDelay): Wait {
  const { next_attempt_at, attempts, last_error } = delay;
  // What an earlier version stored has no reason.
  const { reason = next_attempt_at === null ? "confirmation" : "turn", since = created_at } = delay;
  return {
    reason,
    since,
    next_attempt_at,
    ...(attempts > 0 && { attempts }),
    ...(last_error && { last_error }),
  };
}
