/**
 * What Meta's webhooks report. The signature is checked over the raw bytes, before anything is parsed: Meta
 * signs its own way of escaping characters.
 */
import { z } from "zod";
import type { ChannelRequest, ChannelUpdates, ChannelWebhook } from "../../../../ports/channel/channel.ts";
import type { WhatsAppAccount } from "../account.ts";
import { readAccountUpdate, readAlert, readNameUpdate } from "./alerts.ts";
import { readCalls } from "./calls.ts";
import { readEchoes } from "./echoes.ts";
import { type AccountChange, changesOf, Envelope } from "./envelope.ts";
import { readPastMessages, readSavedNames } from "./history.ts";
import { readIdUpdates, readMessages, readPreferences } from "./messages.ts";
import { isSameText, isSigned } from "./signature.ts";
import { parseStorable } from "./storable.ts";

/** What Meta puts into a request at most. */
const maxUpdates = 1_000;

export function readRequest(
  { app_secret }: WhatsAppAccount,
  { headers, body }: ChannelRequest,
): ReturnType<ChannelWebhook["readRequest"]> {
  if (!isSigned(app_secret, body, headers["x-hub-signature-256"] ?? "")) {
    return "forged";
  }
  const parsed = Envelope.safeParse(parseStorable(Buffer.from(body).toString("utf8")));
  if (!parsed.success) {
    return "unreadable";
  }
  const updates = changesOf(parsed.data).map(readChange);
  const all: ChannelUpdates = {
    messages: updates.flatMap(({ messages = [] }) => messages),
    history: updates.flatMap(({ history = [] }) => history),
    names: updates.flatMap(({ names = [] }) => names),
    changes: updates.flatMap(({ changes = [] }) => changes),
    consents: updates.flatMap(({ consents = [] }) => consents),
    receipts: updates.flatMap(({ receipts = [] }) => receipts),
    moves: updates.flatMap(({ moves = [] }) => moves),
    templates: updates.flatMap(({ templates = [] }) => templates),
    health: updates.flatMap(({ health = [] }) => health),
    limits: updates.flatMap(({ limits = [] }) => limits),
    alerts: updates.flatMap(({ alerts = [] }) => alerts),
  };
  // One request has thousands of messages of a phone's history, or names of its address book.
  const { health: _, history: __, names: ___, ...counted } = all;
  const count = Object.values(counted).reduce((sum, list) => sum + list.length, 0);
  return count > maxUpdates ? "too_many" : all;
}

export function answerHandshake(
  { verify_token }: WhatsAppAccount,
  query: Readonly<Record<string, string | readonly string[]>>,
): string | undefined {
  const { "hub.mode": mode, "hub.verify_token": token, "hub.challenge": challenge } = query;
  const isComplete = mode === "subscribe" && typeof token === "string" && typeof challenge === "string";
  return isComplete && isSameText(token, verify_token) ? challenge : undefined;
}

type ChangeReader = (change: AccountChange) => Partial<ChannelUpdates>;

const Template = z.object({ message_template_name: z.string().min(1).max(512) });

/** The change itself is not believed: it may be older than another, and the list tells. */
const readTemplate: ChangeReader = ({ value, business_id }) => {
  const { data } = Template.safeParse(value);
  return data ? { templates: [{ business_id, name: data.message_template_name }] } : {};
};

const readLimits: ChangeReader = ({ business_id }) => ({ limits: [{ business_id }] });

const readers: Readonly<Record<string, ChangeReader>> = {
  messages: ({ value }) => readMessages(value),
  smb_message_echoes: ({ value }) => readEchoes(value),
  smb_app_state_sync: ({ value }) => readSavedNames(value),
  history: ({ value }) => readPastMessages(value),
  calls: ({ value }) => readCalls(value),
  user_id_update: ({ value }) => readIdUpdates(value),
  user_preferences: ({ value }) => readPreferences(value),
  message_template_status_update: readTemplate,
  message_template_quality_update: readTemplate,
  message_template_components_update: readTemplate,
  template_category_update: readTemplate,
  account_update: readAccountUpdate,
  phone_number_name_update: readNameUpdate,
  business_capability_update: readLimits,
  phone_number_quality_update: readLimits,
  account_alerts: readAlert,
  security: readAlert,
};

/** A field that is not known changes nothing here. */
function readChange(change: AccountChange): Partial<ChannelUpdates> {
  return Object.hasOwn(readers, change.field) ? (readers[change.field]?.(change) ?? {}) : {};
}
