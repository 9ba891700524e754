/** The changes of the field `messages`: messages, receipts, and persons who have another number or id. */
import { z } from "zod";
import type { AccountMessage, ChannelUpdates, ReceiptType } from "../../../../ports/channel/channel.ts";
import type { WhatsAppIdentities } from "../../capabilities.ts";
import { reactionTo, toFailure } from "../error-codes.ts";
import { readAll } from "../read-all.ts";
import { alertOfGroup, readErrors } from "./alerts.ts";
import { changeOf } from "./changes.ts";
import { contentOf } from "./content.ts";
import { detailsOf } from "./details.ts";
import { digits, Metadata, Preference, Status, seconds, WebhookContact, WebhookMessage } from "./envelope.ts";

type Updates = Pick<ChannelUpdates, "messages" | "changes" | "receipts" | "moves" | "health" | "alerts">;

const none: Updates = { messages: [], changes: [], receipts: [], moves: [], health: [], alerts: [] };

export function readMessages(value: Readonly<Record<string, unknown>>): Updates {
  const metadata = Metadata.safeParse(value.metadata);
  if (!metadata.success) {
    return none;
  }
  const { phone_number_id: account_id } = metadata.data;
  const contacts = readAll(WebhookContact, value.contacts);
  const all = readAll(WebhookMessage, value.messages);
  const messages = all.filter(({ group_id }) => !group_id);
  const { alerts = [] } = readErrors(value.errors, { account_id });
  const groups = messages.length < all.length ? alertOfGroup({ account_id }) : {};
  const statuses = readAll(Status, value.statuses);
  const written = messages.filter(({ type }) => type !== "system");
  const changes = new Map(written.map((message) => [message, changeOf(message)]));
  return {
    messages: written.flatMap((message) =>
      changes.get(message) ? [] : toMessage(message, account_id, contacts),
    ),
    changes: written.flatMap((message) => {
      const change = changes.get(message);
      return reporterOf(message, contacts).flatMap((sender) =>
        change
          ? [{ account_id, change_id: message.id, ...sender, occurred_at: message.timestamp, ...change }]
          : [],
      );
    }),
    moves: messages.flatMap((message) => (message.type === "system" ? toMove(message, account_id) : [])),
    receipts: statuses.flatMap((status) => toReceipt(status, account_id)),
    health: statuses.flatMap((status) => toHealth(status, account_id)),
    alerts: [...alerts, ...(groups.alerts ?? [])],
  };
}

function toMessage(
  message: WebhookMessage,
  account_id: string,
  contacts: readonly WebhookContact[],
): readonly AccountMessage[] {
  const contact = contactOf(message, contacts);
  const read = contentOf(message);
  return reporterOf(message, contacts).map((sender) => ({
    account_id,
    channel_message_id: message.id,
    ...sender,
    name: contact?.profile?.name || null,
    occurred_at: message.timestamp,
    reply_to: message.context?.id ?? null,
    ...read,
    details: detailsOf(message, read.content),
  }));
}

export function contactOf(
  { from, from_user_id }: Pick<WebhookMessage, "from" | "from_user_id">,
  contacts: readonly WebhookContact[],
): WebhookContact | undefined {
  return (
    contacts.find(({ wa_id }) => Boolean(from) && wa_id === from) ??
    contacts.find(({ user_id }) => Boolean(from_user_id) && user_id === from_user_id)
  );
}

/** None if the message has neither a number nor an id to answer to. */
export function reporterOf(
  message: Pick<WebhookMessage, "from" | "from_user_id">,
  contacts: readonly WebhookContact[],
) {
  const { from: wa_id = null, from_user_id = null } = message;
  const contact = contactOf(message, contacts);
  const bsuid = from_user_id ?? contact?.user_id ?? null;
  const username = contact?.profile?.username ?? null;
  return wa_id === null && bsuid === null ? [] : [toSender({ wa_id, bsuid, username })];
}

export function toSender({ wa_id, ...ids }: WhatsAppIdentities & { readonly wa_id: string | null }) {
  return { from: { phone: wa_id === null ? null : `+${wa_id}`, wa_id, ...ids } };
}

/** The field `user_preferences`: persons stopped or resumed marketing in their app. */
export function readPreferences(value: Readonly<Record<string, unknown>>): Pick<ChannelUpdates, "consents"> {
  const metadata = Metadata.safeParse(value.metadata);
  const preferences = metadata.success ? readAll(Preference, value.user_preferences) : [];
  const account_id = metadata.data?.phone_number_id ?? "";
  const contacts = readAll(WebhookContact, value.contacts);
  return {
    consents: preferences.map(({ wa_id = null, user_id, value: choice, timestamp }) => {
      const contact = contacts.find((one) => wa_id !== null && one.wa_id === wa_id);
      const sender = toSender({ wa_id, bsuid: user_id ?? contact?.user_id ?? null });
      return { account_id, ...sender, occurred_at: timestamp, opted_out: choice === "stop" };
    }),
  };
}

const System = z.object({
  system: z.object({
    type: z.enum(["user_changed_number", "user_changed_user_id"]),
    wa_id: digits.nullish(),
    user_id: z.string().max(255).nullish(),
    previous_user_id: z.string().max(255).nullish(),
    body: z.string().nullish(),
  }),
});

function toMove(message: WebhookMessage, account_id: string): ChannelUpdates["moves"] {
  const { data } = System.safeParse(message);
  if (!data) {
    return [];
  }
  const { wa_id, user_id, previous_user_id, body } = data.system;
  // The first notices of changed ids had the former one in their text only.
  const [, mentioned = null] = /\bfrom ([A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128})\b/.exec(body ?? "") ?? [];
  const number = (digits: string | null | undefined) => (digits ? `+${digits}` : null);
  return [
    {
      account_id,
      occurred_at: message.timestamp,
      from: {
        phone: number(message.from),
        bsuid: previous_user_id ?? message.from_user_id ?? mentioned,
      },
      to: { phone: number(wa_id), bsuid: user_id ?? null },
    },
  ];
}

const IdUpdate = z.object({
  wa_id: digits.nullish(),
  user_id: z.object({ previous: z.string().min(1).max(255), current: z.string().min(1).max(255) }),
  timestamp: seconds,
});

/** The field `user_id_update`: persons who have another id. */
export function readIdUpdates(value: Readonly<Record<string, unknown>>): Pick<ChannelUpdates, "moves"> {
  const metadata = Metadata.safeParse(value.metadata);
  const updates = metadata.success ? readAll(IdUpdate, value.user_id_update) : [];
  const account_id = metadata.data?.phone_number_id ?? "";
  return {
    moves: updates.map(({ wa_id, user_id: { previous, current }, timestamp }) => ({
      account_id,
      occurred_at: timestamp,
      from: { phone: wa_id ? `+${wa_id}` : null, bsuid: previous },
      to: { phone: null, bsuid: current },
    })),
  };
}

/** A voice message that was played has been read. Others, such as deleted, say nothing of the delivery. */
const receiptTypes: Readonly<Record<string, ReceiptType>> = {
  sent: "sent",
  delivered: "delivered",
  read: "read",
  played: "read",
  failed: "failed",
};

function toReceipt(
  { id, status, timestamp, biz_opaque_callback_data, pricing, errors }: Status,
  account_id: string,
): ChannelUpdates["receipts"] {
  const type = Object.hasOwn(receiptTypes, status) ? receiptTypes[status] : undefined;
  if (!type) {
    return [];
  }
  const [error] = errors ?? [];
  const failure = error
    ? toFailure({ ...error, detail: error.error_data?.details ?? null })
    : { reason: "other_error" as const, channel_code: null, title: "Failed", detail: null };
  return [
    {
      account_id,
      channel_message_id: id,
      token: biz_opaque_callback_data || null,
      type,
      occurred_at: timestamp,
      failure: type === "failed" ? failure : null,
      pricing: pricing ? { category: pricing.category ?? null, is_free: isFree(pricing) } : null,
    },
  ];
}

/** `type` replaces `billable`. */
function isFree({ type, billable }: NonNullable<Status["pricing"]>): boolean {
  return type ? type.startsWith("free") : billable === false;
}

/** A failure that every further message would have too. */
function toHealth({ status, errors }: Status, account_id: string): ChannelUpdates["health"] {
  const [error] = status === "failed" ? (errors ?? []) : [];
  if (!error || reactionTo({ code: error.code, subcode: null, isTransient: false }).reaction !== "stop") {
    return [];
  }
  const failure = toFailure({ ...error, detail: error.error_data?.details ?? null });
  return [{ account: { account_id }, failure }];
}
