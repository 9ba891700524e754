/** The attributes that conditions can use: of a contact, and of a conversation. */
import { getCountries } from "libphonenumber-js/min";
import { conversationStatuses } from "../../../../tools/conversations.ts";
import { storedTypes } from "../../../../tools/messages/index.ts";
import type { Attributes } from "./query.ts";

export const contactAttributes = {
  name: { type: "text" },
  phone_number: { type: "text" },
  country: {
    type: "enum",
    values: getCountries(),
    expected: "a two-letter country code (ISO 3166), for example DE",
  },
  tags: { type: "tags" },
  created_at: { type: "date" },
  updated_at: { type: "date" },
  last_user_message_at: { type: "date" },
  opted_out: { type: "boolean" },
  blocked: { type: "boolean" },
  "metadata.<path>": { type: "any" },
} as const satisfies Attributes;

/** The attributes of each conversation of a contact. */
export const ownConversationAttributes = {
  "conversation.status": { type: "enum", values: conversationStatuses },
  "conversation.assigned_to": { type: "text" },
  "conversation.tags": { type: "tags" },
  "conversation.inbox_id": { type: "text" },
  "conversation.is_favorite": { type: "boolean" },
  "conversation.referral_id": { type: "text" },
  "conversation.last_message_at": { type: "date" },
  "conversation.last_user_message_at": { type: "date" },
} as const satisfies Attributes;

/** Includes the attributes of the conversation's contact; `message` is the contact's latest message. */
export const conversationAttributes = {
  ...contactAttributes,
  ...ownConversationAttributes,
  "message.type": { type: "enum", values: storedTypes },
  "message.text": { type: "text" },
} as const satisfies Attributes;

/**
 * The attributes of cohorts. A condition on the conversation is met if any conversation of the contact meets
 * it.
 */
export const cohortAttributes = {
  ...contactAttributes,
  ...ownConversationAttributes,
} as const satisfies Attributes;
