/** Explains a channel's failure to the sender: a code of our own, whether a retry helps, and what to do. */
import type { ChannelFailure } from "../../../ports/channel.ts";

/** The `error` of a failed message, as stored and as returned. */
export interface DeliveryError {
  readonly code: string;
  readonly channel_code: number | null;
  readonly title: string;
  readonly detail: string | null;
  readonly retryable: boolean;
  readonly hint: string;
}

interface Meaning {
  readonly code: string;
  readonly retryable: boolean;
  readonly hint: string;
}

const meaning = (code: string, retryable: boolean, hint: string): Meaning => ({ code, retryable, hint });

const windowHint = "Send an approved template, or wait until the contact writes again.";

/** By the error codes of the WhatsApp Cloud API. */
const meanings: Readonly<Record<number, Meaning>> = {
  4: meaning("channel_throttled", true, "Send again in a minute."),
  80007: meaning("channel_throttled", true, "Send again in a minute."),
  130429: meaning("channel_throttled", true, "Send again in a minute."),
  130472: meaning(
    "not_delivered_experiment",
    false,
    "The channel does not deliver this message as part of an experiment; reach the contact another way.",
  ),
  131000: meaning("channel_error", true, "Send again."),
  131016: meaning("channel_unavailable", true, "Send again in a few minutes."),
  131021: meaning("same_sender_and_recipient", false, "Send to a number other than the inbox's own."),
  131026: meaning(
    "undeliverable",
    false,
    "The number may not be registered with this channel; check it with the contact.",
  ),
  131047: meaning("outside_service_window", false, windowHint),
  131048: meaning(
    "spam_limit",
    false,
    "Contacts have blocked or reported the inbox's number; pause and review what is sent.",
  ),
  131049: meaning(
    "marketing_limit",
    true,
    "The contact has reached the channel's limit of marketing messages; send it again after 24 hours.",
  ),
  131050: meaning("marketing_opt_out", false, "The contact opted out of marketing messages."),
  131051: meaning("unsupported_type", false, "Send another type of message."),
  131053: meaning("media_rejected", false, "Check the file's type, size and address."),
  131056: meaning("pair_limit", true, "Too many messages to this contact; wait a few seconds."),
  132000: meaning("template_parameters", false, "Send as many values as the template has variables."),
  132001: meaning("template_missing", false, "Use a template that is approved in this language."),
  132012: meaning("template_parameters", false, "Send values of the format that the template expects."),
  132015: meaning("template_paused", false, "The template is paused for low quality; use another one."),
  132016: meaning("template_disabled", false, "The template is disabled; use another one."),
};

const defaultMeaning = meaning(
  "channel_error",
  false,
  "Check the number and the message, then send it again.",
);

export function toDeliveryError(failure: ChannelFailure): DeliveryError {
  return { ...(meanings[failure.channel_code ?? 0] ?? defaultMeaning), ...failure };
}

/** Failures of the service itself, without a channel's code. */
export const internalFailures = {
  window_closed: {
    ...meaning("outside_service_window", false, windowHint),
    channel_code: null,
    title: "The 24-hour window closed before the message could be sent",
    detail: null,
  },
  unconfirmed: {
    ...meaning("unconfirmed", false, "It may have arrived: ask the contact before you send it again."),
    channel_code: null,
    title: "The channel never confirmed the message",
    detail: null,
  },
  recipient_erased: {
    ...meaning("recipient_erased", false, "The contact was deleted before the message was sent."),
    channel_code: null,
    title: "The contact was deleted",
    detail: null,
  },
  contact_blocked: {
    ...meaning("contact_blocked", false, "Unblock the contact only if they agreed to get messages again."),
    channel_code: null,
    title: "The contact was blocked before the message could be sent",
    detail: null,
  },
  opted_out: {
    ...meaning("marketing_opt_out", false, "The contact opted out of marketing messages."),
    channel_code: null,
    title: "The contact opted out of marketing before the message could be sent",
    detail: null,
  },
  expired: {
    ...meaning("expired", true, "Send it again if it still matters."),
    channel_code: null,
    title: "The message waited for more than a day and was not sent",
    detail: null,
  },
} as const satisfies Record<string, DeliveryError>;
