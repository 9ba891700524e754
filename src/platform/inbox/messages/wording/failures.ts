/** Explains a failure to the sender: its code, whether a retry helps, and what to do. */
import type { ReportedFailure } from "../../../../database/schema/index.ts";
import type { FailureReason } from "../../../../ports/channel/channel.ts";

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

const meanings: Readonly<Record<FailureReason, Meaning>> = {
  channel_throttled: meaning("channel_throttled", true, "Send again in a minute."),
  channel_unavailable: meaning("channel_unavailable", true, "Send again in a few minutes."),
  channel_unreachable: meaning("channel_unreachable", true, "Send again in a few minutes."),
  temporary_error: meaning("channel_error", true, "Send again."),
  other_error: meaning(
    "channel_error",
    false,
    "Read what the channel says, settle that, and then send the message again.",
  ),
  same_sender_and_recipient: meaning(
    "same_sender_and_recipient",
    false,
    "Send to a number other than the inbox's own.",
  ),
  undeliverable: meaning(
    "undeliverable",
    false,
    "The number may not be registered with this channel; check it with the contact.",
  ),
  recipient_not_listed: meaning(
    "recipient_not_listed",
    false,
    "The inbox's number is a test number: add the recipient to its list at the channel, then send it again.",
  ),
  not_delivered_experiment: meaning(
    "not_delivered_experiment",
    false,
    "The channel does not deliver this message as part of an experiment; reach the contact another way.",
  ),
  outside_service_window: meaning("outside_service_window", false, windowHint),
  spam_limit: meaning(
    "spam_limit",
    false,
    "Contacts have blocked or reported the inbox's number; pause and review what is sent.",
  ),
  marketing_limit: meaning(
    "marketing_limit",
    true,
    "The contact has reached the channel's limit of marketing messages; send it again after 24 hours.",
  ),
  marketing_opt_out: meaning("marketing_opt_out", false, "The contact opted out of marketing messages."),
  pair_limit: meaning("pair_limit", true, "Too many messages to this contact; wait a few seconds."),
  unsupported_type: meaning("unsupported_type", false, "Send another type of message."),
  media_rejected: meaning("media_rejected", false, "Check the file's type, size and address."),
  template_parameters: meaning(
    "template_parameters",
    false,
    "Send as many values as the template has variables.",
  ),
  template_parameter_format: meaning(
    "template_parameters",
    false,
    "Send values of the format that the template expects.",
  ),
  template_missing: meaning("template_missing", false, "Use a template that is approved in this language."),
  template_paused: meaning(
    "template_paused",
    false,
    "The template is paused for low quality; use another one.",
  ),
  template_disabled: meaning("template_disabled", false, "The template is disabled; use another one."),
};

/** A failure that an earlier version stored has no reason. */
export function toDeliveryError({ reason = "other_error", ...reported }: ReportedFailure): DeliveryError {
  return { ...meanings[reason], ...reported };
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
  code_gone: {
    ...meaning("code_gone", false, "Send the template again, with a new code."),
    channel_code: null,
    title: "The code of the message can't be read any more",
    detail: null,
  },
  expired: {
    ...meaning("expired", true, "Send it again if it still matters."),
    channel_code: null,
    title: "The message waited for more than a day and was not sent",
    detail: null,
  },
} as const satisfies Record<string, DeliveryError>;
