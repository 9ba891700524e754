/** Why a channel did not do something. */

/** Why a message was not accepted or not delivered, in the words of this service. */
export type FailureReason =
  | "channel_throttled"
  | "channel_unavailable"
  | "channel_unreachable"
  /** An error that may pass: the same message can be sent again. */
  | "temporary_error"
  /** None of the other reasons. */
  | "other_error"
  | "same_sender_and_recipient"
  | "undeliverable"
  /** The inbox's number is a test number, which writes only to the people in its list. */
  | "recipient_not_listed"
  | "not_delivered_experiment"
  | "outside_service_window"
  | "spam_limit"
  | "marketing_limit"
  | "marketing_opt_out"
  /** Too many messages to this person in a short time. */
  | "pair_limit"
  | "unsupported_type"
  | "media_rejected"
  | "template_parameters"
  | "template_parameter_format"
  | "template_missing"
  | "template_paused"
  | "template_disabled";

export interface ChannelFailure {
  readonly reason: FailureReason;
  /** The channel's own error code, which is shown as it is; null if it gave none. */
  readonly channel_code: number | null;
  readonly title: string;
  readonly detail: string | null;
}
