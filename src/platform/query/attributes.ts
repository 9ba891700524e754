/** What may be asked about a contact, and about a conversation. */
import { getCountries, parsePhoneNumberFromString } from "libphonenumber-js/min";
import { conversationStatuses } from "../../../tools/conversations.ts";
import { messageTypes } from "../../../tools/messages/index.ts";
import type { Attributes } from "./query.ts";

export const contactAttributes = {
  name: { type: "text" },
  phone_number: { type: "text" },
  country: {
    type: "enum",
    values: getCountries(),
    expected: "a country's two letters (ISO 3166), for example DE",
  },
  tags: { type: "tags" },
  created_at: { type: "date" },
  updated_at: { type: "date" },
  last_user_message_at: { type: "date" },
  opted_out: { type: "boolean" },
  "metadata.<path>": { type: "any" },
} as const satisfies Attributes;

/** A conversation is asked about its contact too; `message` is the contact's latest. */
export const conversationAttributes = {
  ...contactAttributes,
  "conversation.status": { type: "enum", values: conversationStatuses },
  "conversation.assigned_to": { type: "text" },
  "conversation.tags": { type: "tags" },
  "conversation.inbox_id": { type: "text" },
  "conversation.is_favorite": { type: "boolean" },
  "message.type": { type: "enum", values: messageTypes },
  "message.text": { type: "text" },
} as const satisfies Attributes;

/** The country of a number in E.164 form; null where it has none, as +800. */
export function countryOf(phone_number: string | null): string | null {
  return (phone_number && parsePhoneNumberFromString(phone_number)?.country) || null;
}
