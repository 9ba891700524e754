/**
 * Delivers a queued message to its channel, at most once.
 *
 * The message is claimed in a transaction, and the channel is called after its commit. A claim without a
 * result (a crash, a lost response) is looked up at the channel by its token: an accepted message is recorded
 * as sent, an absent one is sent, and an unknown one waits for a receipt and finally fails as unconfirmed. A
 * message that the channel may have accepted is never sent again: while the send of a process that died or was
 * blocked may still arrive, only "accepted" is believed.
 */
import { z } from "zod";
import { fail } from "../../../tools/errors.ts";
import type { Transaction } from "../../database/database.ts";
import { refersTo } from "../../database/query/index.ts";
import type { Attempt, Outcome } from "../../jobs/job.ts";
import type { Channel, MessageContent, OutboundMessage } from "../../ports/channel.ts";
import { isBsuid } from "../contacts/index.ts";
import { windowOf } from "../conversations/index.ts";
import { isWindowStrict } from "../inboxes.ts";
import { defineJob, type World } from "../kernel/index.ts";
import { type DeliveryError, internalFailures, toDeliveryError } from "./failures.ts";
import { toChannelMedia } from "./media.ts";
import { applyParkedReceipts, applyStatusUpdate, lockMessage, type MessageRow } from "./progress.ts";

const Payload = z.object({ organization_id: z.string(), message_id: z.string() });
type Payload = Readonly<z.infer<typeof Payload>>;

/** From the claim to the end of the send. Well below the job's lease. */
const sendTimeoutMs = 10_000;
/** When the send of a claim has ended in any case. Longer, because the clocks of two machines differ. */
const sendEndedMs = sendTimeoutMs + 2_000;
/** A message that waited longer than this, for a busy channel or behind others, fails as expired. */
const maxWaitMs = 24 * 3_600_000;
/** How long an unconfirmed message waits for a receipt, and how often that is checked. */
const confirmTimeoutMs = 24 * 3_600_000;
const confirmEveryMs = 15 * 60_000;

export const deliverMessageJob = defineJob({
  name: "message.deliver",
  payload: Payload,
  isKeptByErasure: true,
  leaseMs: 30_000,
  maxAttempts: 12,

  async run(payload, world, attempt) {
    const claim = await claimMessage(payload, world, attempt);
    if (!claim) {
      return undefined;
    }
    if (claim.previousClaimAt === null) {
      return sendToChannel(world, payload, claim, attempt);
    }
    const lookup = await claim.channel.find(claim.message.id, payload.organization_id);
    if (lookup.outcome === "accepted") {
      return markSent(world, payload, lookup);
    }
    if (claim.isSendRunning) {
      return { runAgainAt: new Date(Date.parse(claim.previousClaimAt) + sendEndedMs) };
    }
    if (lookup.outcome === "absent") {
      // Time has passed since the first attempt, so the window may have closed.
      return claim.blockingError
        ? failMessage(world, payload, claim.blockingError)
        : sendToChannel(world, payload, claim, attempt);
    }
    return enqueueConfirmation(world, payload, claim.previousClaimAt);
  },

  async exhausted(payload, world) {
    await failMessage(world, payload, internalFailures.unconfirmed);
  },
});

/**
 * Waits for the receipt of a message that the channel may have accepted and cannot look up. It runs without
 * the conversation's key, so later messages are not delayed.
 */
export const confirmMessageJob = defineJob({
  name: "message.confirm",
  payload: Payload.extend({ since: z.string() }),

  async run({ since, ...payload }, world) {
    const message = await world.database.queries
      .selectFrom("messages")
      .select("status")
      .where("organization_id", "=", payload.organization_id)
      .where("id", "=", payload.message_id)
      .executeTakeFirst();
    if (message?.status !== "sending") {
      return undefined;
    }
    if (world.now().getTime() - Date.parse(since) > confirmTimeoutMs) {
      return failMessage(world, payload, internalFailures.unconfirmed);
    }
    return { runAgainAt: new Date(world.now().getTime() + confirmEveryMs) };
  },
});

interface ClaimedMessage {
  readonly channel: Channel;
  readonly message: MessageRow;
  /** The inbox's number. */
  readonly from: string;
  /** Why it may not be sent now. */
  readonly blockingError: DeliveryError | undefined;
  /** When an earlier attempt claimed it, whose result is unknown. */
  readonly previousClaimAt: string | null;
  /** The send of that attempt may still arrive at the channel; so its claim is kept. */
  readonly isSendRunning: boolean;
  /** When this attempt claimed it; proves that no other attempt has claimed it since. */
  readonly claimedAt: string;
}

/** Marks the message as being sent; undefined if it is no longer to be sent. */
async function claimMessage(
  payload: Payload,
  world: World,
  { isTakeover }: Attempt,
): Promise<ClaimedMessage | undefined> {
  return world.database.transaction(async (tx) => {
    const message = await lockMessage(tx, payload.organization_id, payload.message_id);
    if (!message || (message.status !== "queued" && message.status !== "sending")) {
      return undefined;
    }
    const conversation = await readConversation(tx, message);
    const now = world.now();
    const blockingError = findBlockingError(message, conversation, now);
    if (blockingError && message.claimed_at === null) {
      await applyStatusUpdate(tx, world, message, {
        type: "failed",
        at: now.toISOString(),
        error: blockingError,
      });
      return undefined;
    }
    const previousClaimAt = message.claimed_at;
    const isSendRunning =
      isTakeover && previousClaimAt !== null && now.getTime() - Date.parse(previousClaimAt) < sendEndedMs;
    const claimedAt = now.toISOString();
    if (!isSendRunning) {
      await tx
        .updateTable("messages")
        .set({ status: "sending", claimed_at: claimedAt })
        .where("organization_id", "=", payload.organization_id)
        .where("id", "=", message.id)
        .execute();
    }
    const channel = channelOf(world, conversation.channel);
    const from = conversation.phone_number;
    return { channel, message, from, blockingError, previousClaimAt, isSendRunning, claimedAt };
  });
}

/** The conversation of a message, with its inbox. */
function readConversation(tx: Transaction, { organization_id, conversation_id }: MessageRow) {
  return tx
    .selectFrom("conversations")
    .innerJoin("inboxes", (join) => join.on(refersTo("conversations.inbox_id", "inboxes")))
    .select([
      "last_user_message_at",
      "erased_at",
      "inboxes.channel",
      "inboxes.settings",
      "inboxes.phone_number",
    ])
    .where("conversations.organization_id", "=", organization_id)
    .where("conversations.id", "=", conversation_id)
    .executeTakeFirstOrThrow();
}

function findBlockingError(
  message: MessageRow,
  conversation: Awaited<ReturnType<typeof readConversation>>,
  now: Date,
): DeliveryError | undefined {
  if (conversation.erased_at !== null) {
    return internalFailures.recipient_erased;
  }
  if (isWindowStrict(conversation) && !windowOf(conversation, now).is_within_24h_window) {
    return internalFailures.window_closed;
  }
  return now.getTime() - Date.parse(message.created_at) > maxWaitMs ? internalFailures.expired : undefined;
}

async function sendToChannel(
  world: World,
  payload: Payload,
  claim: ClaimedMessage,
  attempt: Attempt,
): Promise<Outcome> {
  const message = await toOutboundMessage(world, claim);
  const sinceClaimMs = Math.max(0, world.now().getTime() - Date.parse(claim.claimedAt));
  if (sinceClaimMs >= sendTimeoutMs) {
    throw new Error("This process was blocked after the claim: another one may be sending the message.");
  }
  const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(sendTimeoutMs - sinceClaimMs)]);
  const result = await claim.channel.send(message, signal);
  if (result.outcome === "accepted") {
    return markSent(world, payload, result);
  }
  return result.outcome === "busy"
    ? returnToQueue(world, payload, claim.claimedAt, result.retryAfterMs)
    : failMessage(world, payload, toDeliveryError(result.failure));
}

/** The channel accepted the message, which counts as "sent". */
async function markSent(
  world: World,
  payload: Payload,
  { channel_message_id }: { channel_message_id: string },
): Promise<Outcome> {
  await world.database.transaction(async (tx) => {
    const message = await lockMessage(tx, payload.organization_id, payload.message_id);
    if (message) {
      const at = world.now().toISOString();
      const sent = await applyStatusUpdate(tx, world, message, { type: "accepted", at, channel_message_id });
      await applyParkedReceipts(tx, world, sent);
    }
  });
  return undefined;
}

async function failMessage(world: World, payload: Payload, error: DeliveryError): Promise<Outcome> {
  await world.database.transaction(async (tx) => {
    const message = await lockMessage(tx, payload.organization_id, payload.message_id);
    if (message) {
      await applyStatusUpdate(tx, world, message, { type: "failed", at: world.now().toISOString(), error });
    }
  });
  return undefined;
}

/** The channel did not accept the message: it is queued again and sent when the channel allows it. */
async function returnToQueue(
  world: World,
  payload: Payload,
  claimedAt: string,
  retryAfterMs: number,
): Promise<Outcome> {
  await world.database.transaction(async (tx) => {
    await tx
      .updateTable("messages")
      .set({ status: "queued", claimed_at: null })
      .where("organization_id", "=", payload.organization_id)
      .where("id", "=", payload.message_id)
      .where("status", "=", "sending")
      .where("claimed_at", "=", claimedAt)
      .execute();
  });
  return { runAgainAt: new Date(world.now().getTime() + retryAfterMs) };
}

/** Hands the message over to `confirmMessageJob`, which frees the conversation's key for later messages. */
async function enqueueConfirmation(world: World, payload: Payload, since: string): Promise<Outcome> {
  await world.database.transaction(async (tx) => {
    const runAt = new Date(world.now().getTime() + confirmEveryMs);
    await world.jobs.enqueue(tx, confirmMessageJob, { ...payload, since }, { runAt });
  });
  return undefined;
}

async function toOutboundMessage(world: World, { message, from }: ClaimedMessage): Promise<OutboundMessage> {
  const to = message.to ?? "";
  const { media } = message.content;
  const content = {
    type: message.type,
    ...message.content,
    ...(media && { media: await toChannelMedia(world, media) }),
  };
  return {
    organization_id: message.organization_id,
    from,
    to,
    to_kind: isBsuid(to) ? "bsuid" : "phone",
    token: message.id,
    // `sendMessage` stored it from a validated input, so the content has the member that its type requires.
    content: content as MessageContent,
  };
}

function channelOf(world: World, name: string): Channel {
  const channel = world.channels[name];
  if (!channel) {
    throw fail("unavailable", { reason: `the channel ${name} is not configured.` });
  }
  return channel;
}
