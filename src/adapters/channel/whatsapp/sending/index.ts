/**
 * Sends messages by the Cloud API.
 *
 * Sending has no idempotency key there, and messages can't be looked up. So the outcome of an error after the
 * request was written is unknown, and the receipts, which repeat our token, tell. A request that was not
 * written was certainly not accepted, nor was one that the API answers with an error, or a gateway with 503
 * and a time for the retry.
 */
import { z } from "zod";
import type {
  ChannelFailure,
  FailureReason,
  OutboundMessage,
  SendOptions,
  SendResult,
} from "../../../../ports/channel/channel.ts";
import type { ChannelFile } from "../../../../ports/channel/message-content.ts";
import type { Clock } from "../../../../ports/clock.ts";
import { withDeadline } from "../../../../time/deadline.ts";
import { loadClient } from "../../../http-client/index.ts";
import { toWhatsAppAccount, type WhatsAppAccount } from "../account.ts";
import { type Reaction, reactionTo, toFailure } from "../error-codes.ts";
import {
  askGraph,
  codeOf,
  describeNoAnswer,
  type GraphError,
  isUnsent,
  parseAnswer,
  segment,
  unsentTitle,
  type WhatsAppSettings,
} from "../http.ts";
import { toBody } from "./body.ts";
import { createUploader, type Uploader } from "./upload.ts";

export { sendReadMark } from "./mark-read.ts";
export { sendReaction } from "./react.ts";

interface Sender {
  readonly settings: WhatsAppSettings;
  readonly upload: Uploader;
}

const SentAnswer = z.object({
  messages: z.tuple([z.object({ id: z.string().min(1).max(255) })], z.unknown()),
});

/** Left for the request after the uploads. */
const requestMs = 4_000;
/**
 * Until the next attempt at a message that was not handed over: no connection, or an
 * upload that took too long.
 */
const retryMs = 10_000;
/** Attempts at a message that the API answers with an error that may pass. */
const maxBriefTries = 3;
/** As Meta's page on error 131056 recommends: 4^n seconds. */
const firstRefusalMs = 1_000;
const maxRefusalMs = 1_024_000;

export function createSend(settings: WhatsAppSettings, now: Clock) {
  const sender = { settings, upload: createUploader(settings, now) };
  return (message: OutboundMessage, options: SendOptions) => send(sender, message, options);
}

async function send(
  sender: Sender,
  message: OutboundMessage,
  { signal, startNow, requireClaim }: SendOptions,
): Promise<SendResult> {
  const { settings } = sender;
  if (!message.account) {
    throw new Error("A message of WhatsApp has no account.");
  }
  const account = toWhatsAppAccount(message.account);
  const ids = await uploadAll(sender, account, message);
  if (!(ids instanceof Map)) {
    return ids;
  }
  await loadClient();
  await startNow();
  requireClaim();
  const path = `/${segment(account.phone_number_id)}/messages`;
  const api = { settings, credentials: account, signal };
  let isWritten = false;
  const onWrite = () => {
    isWritten = true;
  };
  const request = { method: "POST", path, json: toBody(message, ids), onWrite } as const;
  const answer = await askGraph(api, request).catch((error) => {
    if (!isWritten) {
      // The end of our own time says nothing of the channel.
      requireClaim();
    }
    return toResult(error, { signal, isWritten });
  });
  if (answer.outcome === "busy" || answer.outcome === "unknown") {
    return answer;
  }
  if (answer.outcome === "rejected") {
    return react(message, answer.error);
  }
  return { outcome: "accepted", channel_message_id: parseAnswer(SentAnswer, answer.value).messages[0].id };
}

type BusySend = Extract<SendResult, { outcome: "busy" }>;
type UnknownSend = Extract<SendResult, { outcome: "unknown" }>;

const failureOf = (title: string, reason: FailureReason = "other_error"): ChannelFailure => {
  return { reason, channel_code: null, title, detail: null };
};

const unreachable: BusySend = {
  outcome: "busy",
  retryAfterMs: retryMs,
  waitsFor: "outage",
  failure: failureOf(unsentTitle, "channel_unreachable"),
};

const notUploaded: BusySend = {
  outcome: "busy",
  retryAfterMs: retryMs,
  waitsFor: "file",
  failure: failureOf("The file could not be uploaded to WhatsApp"),
};

/** @throws the error if it says nothing of the channel: one of our own, or the end of the caller's time. */
function toResult(
  error: unknown,
  { signal, isWritten }: { readonly signal: AbortSignal; readonly isWritten: boolean },
): BusySend | UnknownSend {
  if (!isWritten) {
    if (codeOf(error) === undefined) {
      throw error;
    }
    return unreachable;
  }
  const title = describeNoAnswer(error);
  if (title === undefined || signal.aborted) {
    throw error;
  }
  return { outcome: "unknown", failure: failureOf(title) };
}

function react({ refusals }: OutboundMessage, error: GraphError): SendResult {
  const { reaction, waitMs } = reactionTo(error);
  const failure = toFailure(error);
  const waitsFor = waitReasonOf(failure.reason, error.status);
  const busy = (ms: number): SendResult => ({ outcome: "busy", retryAfterMs: ms, waitsFor, failure });
  const results: Readonly<Record<Reaction, () => SendResult>> = {
    refuse: () => ({ outcome: "refused", failure }),
    sync_template: () => ({ outcome: "refused", failure, isTemplateOutdated: true }),
    wait: () => busy(error.retryAfterMs ?? waitMs),
    wait_briefly: () =>
      refusals + 1 < maxBriefTries
        ? { ...busy(error.retryAfterMs ?? waitMs), isRefusal: true }
        : { outcome: "refused", failure },
    wait_for_recipient: () => ({
      ...busy(Math.min(firstRefusalMs * 4 ** refusals, maxRefusalMs)),
      isRefusal: true,
    }),
    stop: () => ({ outcome: "stopped", failure }),
  };
  // A throttled request is never refused for good, whatever its code.
  return error.status === 429 && reaction === "refuse" ? results.wait() : results[reaction]();
}

function waitReasonOf(reason: FailureReason, status: number): BusySend["waitsFor"] {
  const isLimit = reason === "channel_throttled" || reason === "pair_limit" || status === 429;
  return isLimit ? "limit" : "outage";
}

/** The ids of the message's own files; a result if the message can't be sent without one. */
async function uploadAll(
  sender: Sender,
  account: WhatsAppAccount,
  message: OutboundMessage,
): Promise<Map<string, string> | SendResult> {
  const ids = new Map<string, string>();
  for (const file of filesOf(message)) {
    // Nothing has been sent yet: whatever goes wrong here, the message may be tried again.
    const result = await withDeadline(requestMs, [], ({ within }) =>
      within(sender.upload(account, file)),
    ).catch((error: unknown) => (isUnsent(error) ? unreachable : notUploaded));
    if (result.outcome === "busy") {
      return result;
    }
    if (result.outcome === "rejected") {
      return react(message, result.error);
    }
    if (result.outcome === "missing") {
      return { outcome: "refused", failure: failureOf("The file was deleted") };
    }
    ids.set(file.key, result.id);
  }
  return ids;
}

function filesOf({ content }: OutboundMessage): readonly ChannelFile[] {
  if ("media" in content) {
    return content.media.file ? [content.media.file] : [];
  }
  if (content.type === "interactive") {
    const { file } = content.interactive.header_media ?? {};
    return file ? [file] : [];
  }
  const { header = null, cards = [] } = content.type === "template" ? content.template : {};
  return [header, ...cards.map((card) => card.header)].flatMap((one) =>
    one && "media" in one && one.media.file ? [one.media.file] : [],
  );
}
