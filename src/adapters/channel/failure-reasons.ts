/**
 * What the error codes of the WhatsApp Cloud API mean to this service. The simulated channel fails
 * with the same codes.
 */
import type { FailureReason } from "../../ports/channel/channel.ts";

const reasons: Readonly<Record<number, FailureReason>> = {
  2: "channel_unavailable",
  4: "channel_throttled",
  80007: "channel_throttled",
  130429: "channel_throttled",
  130472: "not_delivered_experiment",
  131000: "temporary_error",
  131016: "channel_unavailable",
  131021: "same_sender_and_recipient",
  131026: "undeliverable",
  131030: "recipient_not_listed",
  131047: "outside_service_window",
  131048: "spam_limit",
  131049: "marketing_limit",
  131050: "marketing_opt_out",
  131051: "unsupported_type",
  131053: "media_rejected",
  131056: "pair_limit",
  132000: "template_parameters",
  132001: "template_missing",
  132012: "template_parameter_format",
  132015: "template_paused",
  132016: "template_disabled",
};

export function reasonOf(code: number | null): FailureReason {
  return reasons[code ?? 0] ?? "other_error";
}
