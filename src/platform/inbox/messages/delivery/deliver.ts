/**
 * Delivers a queued message to its channel, at most once.
 *
 * The message is claimed in a transaction, and the channel is called after its commit. A claim without a
 * result (a crash, a lost response) is looked up at the channel by its token: an accepted message is recorded
 * as sent, an absent one is sent, and an unknown one waits for a receipt and finally fails as unconfirmed. A
 * message that the channel may have accepted is never sent again: while the send of a process that died or
 * was blocked may still arrive, only "accepted" is believed.
 */
import { z } from "zod";
import { ofOrganization } from "../../../../database/query/index.ts";
import { type Attempt, newJob, type Outcome } from "../../../../jobs/job.ts";
import type {
  Channel,
  ChannelFailure,
  OutboundMessage,
  SendResult,
} from "../../../../ports/channel/channel.ts";
import { type Deadline, withDeadline } from "../../../../time/deadline.ts";
import {
  channelOf,
  recordHealth,
  recordSendFailure,
  recordUnreachable,
} from "../../../account/inboxes/index.ts";
import { requestSync } from "../../../content/templates/index.ts";
import { defineJob, type World } from "../../../foundation/kernel/index.ts";
import { type DeliveryError, internalFailures, toDeliveryError } from "../wording/index.ts";
import { type ClaimedMessage, claimMessage, returnToQueue, sendTimeoutMs, storeOutcome } from "./claim.ts";
import { type NewDelay, recordDelay } from "./delay.ts";
import { toOutboundMessage } from "./outbound-message.ts";

const Payload = z.object({ organization_id: z.string(), message_id: z.string() });
type Payload = Readonly<z.infer<typeof Payload>>;

/**
 * How old the start that counts against the inbox's rate may be. It is renewed early, before the claim, so
 * that this is rarely needed right before the request: a message whose process dies between the claim and
 * the request ends as unconfirmed. A start counts 100 ms longer than a second; what is left of them is for
 * the way to the channel.
 */
const maxStartAgeMs = { atClaim: 30, atRequest: 50 };

/** How long an unconfirmed message waits for a receipt, and how often that is checked. */
const confirmTimeoutMs = 24 * 3_600_000;
const confirmEveryMs = 15 * 60_000;

export const deliverMessageJob = defineJob({
  name: "message.deliver",
  payload: Payload,
  isKeptByErasure: true,
  leaseMs: 30_000,
  slots: 1 / 4,
  yieldsAfterMs: 500,
  maxAttempts: 12,

  async run(payload, world, attempt) {
    await attempt.startNow(maxStartAgeMs.atClaim);
    const claim = await claimMessage(world, { ...payload, isTakeover: attempt.isTakeover });
    if (!claim) {
      return undefined;
    }
    if (claim.state === "paused") {
      const { reason, until, failure } = claim;
      const since = world.now().toISOString();
      const delay = { reason, since, isAttempt: false, failure, nextAttemptAt: until };
      await recordDelay(world, { ...payload, ...delay });
      return { runAgainAt: until };
    }
    if (claim.state === "claimed") {
      return sendToChannel(world, payload, claim.claimed, attempt);
    }
    const channelName = claim.state === "in_flight" ? claim.channel : claim.claimed.channel;
    const channel = channelOf(world, channelName);
    const lookup = await channel.find(payload.message_id, payload.organization_id);
    if (lookup.outcome === "accepted") {
      return markSent(world, payload, { channel, ...lookup });
    }
    if (claim.state === "in_flight") {
      return { runAgainAt: claim.endsAt };
    }
    if (lookup.outcome === "absent") {
      // Time has passed since the first attempt, so the window may have closed.
      return claim.blockingError
        ? failMessage(world, payload, claim.blockingError)
        : sendToChannel(world, payload, claim.claimed, attempt);
    }
    return channel.capabilities.hasReceipts
      ? enqueueConfirmation(world, payload, claim.previousClaimAt)
      : failMessage(world, payload, internalFailures.unconfirmed);
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
    const message = await ofOrganization(world.database.queries, payload.organization_id)
      .selectFrom("messages")
      .select("status")
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

async function sendToChannel(
  world: World,
  payload: Payload,
  claim: ClaimedMessage,
  attempt: Attempt,
): Promise<Outcome> {
  const message = await toOutboundMessage(world, claim);
  if (isCodeGone(claim, message)) {
    return failMessage(world, payload, internalFailures.code_gone);
  }
  const sinceClaimMs = Math.max(0, world.now().getTime() - Date.parse(claim.claimedAt));
  if (sinceClaimMs >= sendTimeoutMs) {
    throw new Error("This process was blocked after the claim: another one may be sending the message.");
  }
  const channel = channelOf(world, claim.channel);
  const isLost = channel.provider !== undefined && !claim.account;
  const result = isLost
    ? lostAccount
    : await withDeadline(sendTimeoutMs - sinceClaimMs, [attempt.signal], (deadline) =>
        sendInTime(world, { channel, claim, message, attempt, deadline }),
      );
  if (result.outcome === "accepted") {
    await markSent(world, payload, { channel, ...result });
    return claim.wasStopped ? recordSendable(world, claim) : undefined;
  }
  if (result.outcome === "busy") {
    return tryLater(world, payload, { claim, result });
  }
  if (result.outcome === "unknown") {
    await reportUnreachable(world, claim, result.failure);
    throw new Error(`The channel gave no valid answer: ${result.failure.title}.`);
  }
  if (result.outcome === "stopped") {
    const { failure } = result;
    await returnToQueue(world, { ...payload, claimedAt: claim.claimedAt, isRefusal: false });
    const retryAt = await stopInbox(world, claim, failure);
    await recordAttempt(world, payload, { reason: "stop", failure, nextAttemptAt: retryAt });
    return { runAgainAt: retryAt };
  }
  await failMessage(world, payload, toDeliveryError(result.failure));
  if (result.isTemplateOutdated && message.content.type === "template") {
    const { organization_id, from: phone_number } = message;
    await requestSync(world, [{ organization_id, phone_number, name: message.content.template.name }]);
  }
  return undefined;
}

/** It was sealed with a secret that is no longer in use. */
function isCodeGone({ message: { content } }: ClaimedMessage, { content: sent }: OutboundMessage): boolean {
  const code = sent.type === "template" ? sent.template.code : undefined;
  return content.sealed_code !== undefined && code === undefined;
}

type ChannelBusy = Extract<SendResult, { outcome: "busy" }>;

/** Of the channel, or of a send whose time was over before the request. */
type BusyResult = Omit<ChannelBusy, "waitsFor"> & { readonly waitsFor: ChannelBusy["waitsFor"] | "turn" };

interface BusySend {
  readonly claim: ClaimedMessage;
  readonly result: BusyResult;
}

/** The channel can't be reached if a second attempt finds no connection either. */
async function tryLater(world: World, payload: Payload, { claim, result }: BusySend): Promise<Outcome> {
  const { retryAfterMs, waitsFor: reason, failure, isRefusal = false } = result;
  const retryAt = new Date(world.now().getTime() + retryAfterMs);
  await returnToQueue(world, { ...payload, claimedAt: claim.claimedAt, isRefusal });
  await recordAttempt(world, payload, { reason, failure, nextAttemptAt: retryAt });
  if (failure.reason === "channel_unreachable" && claim.message.delay?.attempts) {
    await reportUnreachable(world, claim, failure);
  }
  return { runAgainAt: retryAt };
}

async function reportUnreachable(
  world: World,
  { message, inbox_id, wasStopped }: ClaimedMessage,
  failure: ChannelFailure,
): Promise<void> {
  if (!wasStopped) {
    await recordUnreachable(world, { organization_id: message.organization_id, inbox_id }, failure);
  }
}

interface SendAttempt {
  readonly channel: Channel;
  readonly claim: ClaimedMessage;
  readonly message: OutboundMessage;
  readonly attempt: Attempt;
  readonly deadline: Deadline;
}

/** The message was certainly not sent. */
class ClaimEndedError extends Error {
  override readonly name = "ClaimEndedError";
}

/** What is not sent before the deadline returns to the queue; another process may have sent it by then. */
async function sendInTime(
  world: World,
  { channel, claim, message, attempt, deadline }: SendAttempt,
): Promise<SendResult | BusyResult> {
  const { signal } = deadline;
  let answerMs = 0;
  const requireClaim = () => {
    try {
      deadline.throwIfEnded();
      attempt.requireClock();
      answerMs = deadline.remainingMs();
    } catch (cause) {
      throw new ClaimEndedError("The claim ended before the message was sent.", { cause });
    }
  };
  try {
    const startNow = () => attempt.startNow(maxStartAgeMs.atRequest);
    return await channel.send(message, { signal, startNow, requireClaim });
  } catch (error) {
    if (error instanceof ClaimEndedError) {
      return { outcome: "busy", retryAfterMs: retryUnsentMs, waitsFor: "turn", failure: outOfTime };
    }
    if (deadline.ended === "timeout" && answerMs >= minAnswerMs) {
      await reportUnreachable(world, claim, noAnswer);
    }
    throw error;
  }
}

/** With less time to answer, as when a slow database took it, a channel that did not answer may work. */
const minAnswerMs = 5_000;

/** Until the next attempt at a message that was not sent in the time of its claim. */
const retryUnsentMs = 10_000;

const outOfTime: ChannelFailure = {
  reason: "other_error",
  channel_code: null,
  title: "The time for the send was over",
  detail: null,
};

const noAnswer: ChannelFailure = {
  reason: "other_error",
  channel_code: null,
  title: `The channel did not answer within ${sendTimeoutMs / 1000} seconds`,
  detail: null,
};

const unconfirmed = {
  ...noAnswer,
  code: internalFailures.unconfirmed.code,
  title: "The channel did not confirm the message, which is not sent again",
};

const lostAccount: SendResult = {
  outcome: "stopped",
  failure: {
    reason: "other_error",
    channel_code: null,
    title: "The inbox has no credentials: send them again",
    detail: null,
  },
};

function recordAttempt(
  world: World,
  payload: Payload,
  delay: Pick<NewDelay, "reason" | "failure" | "nextAttemptAt">,
): Promise<undefined> {
  return recordDelay(world, { ...payload, ...delay, since: world.now().toISOString(), isAttempt: true });
}

/** The message waits with all others of the inbox. */
async function stopInbox(
  world: World,
  { message, inbox_id, secrets }: ClaimedMessage,
  failure: ChannelFailure,
): Promise<Date> {
  const { organization_id } = message;
  return recordSendFailure(world, { organization_id, inbox_id }, { failure, secrets });
}

async function recordSendable(world: World, { message, inbox_id }: ClaimedMessage): Promise<undefined> {
  await recordHealth(world, { organization_id: message.organization_id, inbox_id }, null);
}

interface Acceptance {
  readonly channel: Channel;
  readonly channel_message_id: string;
}

/** The channel accepted the message, which counts as "sent". */
async function markSent(
  world: World,
  payload: Payload,
  { channel, channel_message_id }: Acceptance,
): Promise<Outcome> {
  const at = world.now().toISOString();
  const isLast = !channel.capabilities.hasReceipts;
  await storeOutcome(world, { ...payload, type: "accepted", at, channel_message_id, isLast });
  return undefined;
}

async function failMessage(world: World, payload: Payload, error: DeliveryError): Promise<Outcome> {
  await storeOutcome(world, { ...payload, type: "failed", at: world.now().toISOString(), error });
  return undefined;
}

/** Hands the message over to `confirmMessageJob`, which frees the conversation's key for later messages. */
async function enqueueConfirmation(world: World, payload: Payload, since: string): Promise<Outcome> {
  const delay = { reason: "confirmation", since, failure: unconfirmed, nextAttemptAt: null } as const;
  await recordDelay(world, { ...payload, ...delay, isAttempt: true });
  await world.database.transaction(async (tx) => {
    const runAt = new Date(world.now().getTime() + confirmEveryMs);
    await tx.enqueue([newJob(confirmMessageJob, { ...payload, since }, { runAt })]);
  });
  return undefined;
}
