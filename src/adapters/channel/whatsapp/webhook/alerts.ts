/** What Meta says of an account: what happened to it, and what to do. */
import { z } from "zod";
import type { ChannelUpdates } from "../../../../ports/channel/channel.ts";
import { toFailure } from "../error-codes.ts";
import { readAll } from "../read-all.ts";
import type { AccountChange } from "./envelope.ts";

type Alerts = Partial<Pick<ChannelUpdates, "alerts" | "health">>;

const locked = 131031;

const type = z.string().regex(/^\w{1,64}$/);
const text = z.string().max(1_024).optional().catch(undefined);

interface Meaning {
  readonly title: string;
  readonly advice: string;
  /** Whether the account can't send any more. */
  readonly stops?: true;
}

const seeQuality =
  "Read the reason in WhatsApp Manager under Account quality, and request a review there if it is wrong.";
const connectAgain = "Connect a number again with update_inbox (PUT /v1/inboxes/{id}) and new credentials.";

/** By the event of `account_update`. Others say nothing that a person has to know. */
const accountEvents: Readonly<Record<string, Meaning>> = {
  ACCOUNT_RESTRICTION: { title: "Meta has restricted the account", advice: seeQuality },
  ACCOUNT_VIOLATION: { title: "Meta reports a violation of its policies", advice: seeQuality },
  ACCOUNT_DELETED: {
    title: "The WhatsApp Business Account was deleted",
    advice: connectAgain,
    stops: true,
  },
  ACCOUNT_OFFBOARDED: {
    title: "The account was removed from the Cloud API",
    advice: connectAgain,
    stops: true,
  },
  PARTNER_REMOVED: {
    title: "The app was removed from the WhatsApp Business Account",
    advice: "Give the app access to the account again in Meta's business settings.",
    stops: true,
  },
  PARTNER_APP_UNINSTALLED: {
    title: "The app was uninstalled from the WhatsApp Business Account",
    advice: "Give the app access to the account again in Meta's business settings.",
    stops: true,
  },
};

const Update = z.object({
  event: type.optional().catch(undefined),
  ban_info: z
    .object({ waba_ban_state: z.union([z.string(), z.array(z.string())]), waba_ban_date: text })
    .optional()
    .catch(undefined),
  violation_info: z.object({ violation_type: text }).optional().catch(undefined),
  restriction_info: z
    .array(z.object({ restriction_type: text, expiration: z.unknown().optional() }))
    .optional()
    .catch(undefined),
});

/** The field `account_update`. */
export function readAccountUpdate({ field, value, business_id }: AccountChange): Alerts {
  const { event, ban_info, violation_info, restriction_info = [] } = Update.parse(value);
  const account = { business_id };
  const ban = [ban_info?.waba_ban_state ?? []].flat();
  const failure = toFailure({ code: locked, title: "", detail: null });
  if (ban.includes("DISABLE")) {
    const title = "Meta has locked the account";
    return {
      health: [{ account, failure }],
      alerts: [{ account, field, type: "DISABLE", title, advice: seeQuality }],
    };
  }
  if (ban.includes("SCHEDULE_FOR_DISABLE")) {
    const title = `Meta will lock the account${ban_info?.waba_ban_date ? ` on ${ban_info.waba_ban_date}` : ""}`;
    return { alerts: [{ account, field, type: "SCHEDULE_FOR_DISABLE", title, advice: seeQuality }] };
  }
  if (ban.includes("REINSTATE")) {
    return { health: [{ account, failure: null }] };
  }
  const meaning = event !== undefined && Object.hasOwn(accountEvents, event) && accountEvents[event];
  if (!meaning) {
    return {};
  }
  const details = [violation_info?.violation_type, ...restriction_info.map((one) => one.restriction_type)];
  const title = [meaning.title, details.filter(Boolean).join(", ")].filter(Boolean).join(": ");
  const stop = { ...failure, title: meaning.title };
  return {
    alerts: [{ account, field, type: event, title, advice: meaning.advice }],
    ...(meaning.stops && { health: [{ account, failure: stop }] }),
  };
}

const Name = z.object({ decision: type, requested_verified_name: text, rejection_reason: text });

/** The field `phone_number_name_update`: a review of the number's display name. */
export function readNameUpdate({ field, value, business_id }: AccountChange): Alerts {
  const { data } = Name.safeParse(value);
  if (data?.decision !== "REJECTED" && data?.decision !== "DECLINED") {
    return {};
  }
  const { decision, requested_verified_name: name = "", rejection_reason: reason } = data;
  const title = `Meta has rejected the display name ${JSON.stringify(name)}${reason ? `: ${reason}` : ""}`;
  const advice = "Enter another display name in WhatsApp Manager, under the phone number.";
  return { alerts: [{ account: { business_id }, field, type: decision, title, advice }] };
}

const Alert = z.object({
  alert_type: type.optional().catch(undefined),
  event: type.optional().catch(undefined),
  alert_description: text,
});

/** The fields `account_alerts` and `security`. */
export function readAlert({ field, value, business_id }: AccountChange): Alerts {
  const { alert_type, event, alert_description: description } = Alert.parse(value);
  const name = alert_type ?? event ?? null;
  const title = description ?? `Meta reports ${name ?? "a change"} of the account`;
  const advice = "Read the notice in WhatsApp Manager.";
  return { alerts: [{ account: { business_id }, field, type: name, title, advice }] };
}

const ReportedError = z.object({
  code: z.int(),
  title: z.string().max(1_024).default(""),
  error_data: z.object({ details: text }).nullish().catch(null),
});

/** Errors of a number itself, and not of one message. */
export function readErrors(errors: unknown, account: { readonly account_id: string }): Alerts {
  return {
    alerts: readAll(ReportedError, errors).map(({ code, title, error_data }) => {
      const failure = toFailure({ code, title, detail: error_data?.details ?? null });
      return {
        account,
        field: "messages",
        type: `error_${code}`,
        title: [failure.title, failure.detail].filter(Boolean).join(": "),
        advice: "Check the inbox with check_inbox (POST /v1/inboxes/{id}/check).",
      };
    }),
  };
}

/** Messages of groups have no conversation here. */
export function alertOfGroup(account: { readonly account_id: string }): Alerts {
  const title = "A message of a group was not stored: this service has conversations with single persons";
  const advice = "Remove the number from the group in WhatsApp.";
  return { alerts: [{ account, field: "messages", type: "group_message", title, advice }] };
}
