/** Messages: sent to contacts and received from them. */
import { z } from "zod";
import { BotInConversation } from "../chatbot.ts";
import { Contact } from "../contacts.ts";
import {
  id,
  newer,
  no,
  one,
  operation,
  paged,
  paging,
  recipient,
  timestamp,
  untrusted,
  yes,
} from "../contract/index.ts";
import { Assignment, Conversation, conversationStatuses } from "../conversations.ts";
import { Note } from "../notes.ts";
import {
  body,
  caption,
  file_name,
  inbox_id,
  media_url,
  NewMessage,
  reply_to,
  TemplateContent,
  templateValues,
  voice,
  wait_seconds,
} from "./content.ts";
import { interactiveFields } from "./interactive.ts";
import { ListedMessage, Message, MessageSender } from "./message.ts";
import { mediaTypes } from "./parts.ts";
import { reactions } from "./react.ts";
import { searches } from "./search.ts";
import { mediaOperations } from "./view-media.ts";

export type { SentCard, SentLocation } from "./cards.ts";
export { mediaOf, NewMessage, type TemplateContent } from "./content.ts";
export { messageErrors } from "./errors.ts";
export { messageEvents } from "./events.ts";
export { Interactive, type InteractiveOffer, interactiveOffers } from "./interactive.ts";
export { MessageError, messageTypes, storedTypes, type WaitingFor } from "./message.ts";
export {
  type MediaPart,
  mediaTypes,
  ReceivedContent,
  ReceivedDetails,
  type TextPart,
} from "./parts.ts";
export { maxReported } from "./search.ts";
export { mediaViews } from "./view-media.ts";

/** A tool call that a conversation may allow. */
const Action = z.object({
  tool: z.string(),
  /** Whether the call would succeed now. */
  is_allowed: z.boolean(),
  /** Why the call is not allowed, and what to do instead; null if it is allowed. */
  reason: z.string().nullable(),
  /** For update_conversation: the allowed new statuses. */
  statuses: z.array(z.enum(conversationStatuses)).optional(),
});

/** The run of a flow that acts in the conversation. */
export const ActiveRun = z.object({
  id: z.string(),
  flow_id: z.string(),
  flow_name: z.string(),
  status: z.enum(["running", "waiting"]),
  waiting_for: z.enum(["time", "reply", "response"]).nullable(),
  /** When the wait ends by itself. */
  due_at: timestamp.nullable(),
});

/** What to know before sending to the contact, and what to do about it. */
export const ContextWarning = z.object({
  code: z.enum([
    "contact_blocked",
    "opted_out",
    "asks_to_stop",
    "outside_service_window",
    "inbox_stopped",
    "inbox_unreachable",
  ]),
  message: z.string(),
});

/** The answer of sending. */
const SentMessage = Message.pick({
  id: true,
  conversation_id: true,
  to: true,
  type: true,
  status: true,
  /** Why it failed, if it did while it was waited for. */
  error: true,
  simulated: true,
  created_at: true,
}).extend({
  contact: z.object({
    id: z.string(),
    name: untrusted(z.string()).nullable(),
    /** Whether this call created it. */
    created: z.boolean(),
  }),
  sent_by: MessageSender,
  warnings: z.array(z.string()).optional(),
});

const sendHints = {
  destructive: yes("A message that was sent can't be called back."),
  idempotent: no("Each call sends a message."),
  openWorld: yes("It sends a message to a person."),
} as const;
const windowRule = "Only within the 24-hour window.";

export const messages = {
  ...searches,

  send_message: operation({
    method: "POST",
    path: "/v1/messages",
    scope: "inbox:write",
    failures: [402],
    tier: "lean",
    title: "Send message",
    description:
      "Send a text, media, location, contacts, template or interactive message to a phone number. The contact and the conversation are found or created. Returns once the message is queued, or with wait_seconds once it is delivered or has failed. Check its delivery later with get_message.",
    input: NewMessage,
    output: one(SentMessage),
    status: 201,
    hints: sendHints,
    tools: {
      send_message: {
        title: "Send message",
        description: `Send a text message, also to a new contact. ${windowRule}`,
        input: z.object({ to: recipient, body, inbox_id, reply_to, wait_seconds }),
        fixed: { type: "text" },
        place: { body: "text.body" },
      },
      send_media_message: {
        title: "Send media message",
        description: `Send a file. ${windowRule}`,
        input: z.object({
          to: recipient,
          type: z.enum(mediaTypes).describe("Type"),
          media_url,
          caption,
          file_name,
          inbox_id,
          reply_to,
          wait_seconds,
        }),
      },
      send_template_message: {
        title: "Send template message",
        description:
          "Send an approved template, also outside the 24-hour window. Find it with list_templates. To many contacts: create_broadcast.",
        input: z.object({
          to: recipient,
          template_name: TemplateContent.shape.name,
          language: TemplateContent.shape.language,
          ...templateValues,
          inbox_id,
          reply_to,
          wait_seconds,
        }),
        fixed: { type: "template" },
        place: {
          template_name: "template.name",
          language: "template.language",
          variables: "template.variables",
          header_media_url: "template.header_media_url",
        },
      },
      send_rich_message: {
        tier: "extended",
        title: "Send rich message",
        description: `Send a location, contact cards, or audio as a voice message. ${windowRule}`,
        input: z.object({
          to: recipient,
          type: z.enum(["location", "contacts", "audio"]).describe("Which of them"),
          location: NewMessage.shape.location,
          contacts: NewMessage.shape.contacts,
          media_url: NewMessage.shape.media_url.describe("For audio: address of the file, or a storage_url"),
          voice,
          inbox_id,
          reply_to,
          wait_seconds,
        }),
      },
      send_interactive_message: {
        tier: "extended",
        title: "Send interactive message",
        description: `Send a text with one of these: up to 3 reply buttons, a list of up to 10 rows, a link, a request of a location or an address, a form, products or an order. The contact's choice arrives as a message with reply. ${windowRule}`,
        input: z.object({ to: recipient, ...interactiveFields, inbox_id, reply_to, wait_seconds }),
        fixed: { type: "interactive" },
        place: {
          body: "interactive.body",
          header: "interactive.header",
          header_media: "interactive.header_media",
          footer: "interactive.footer",
          buttons: "interactive.buttons",
          list: "interactive.list",
          link: "interactive.link",
          location_request: "interactive.location_request",
          address_request: "interactive.address_request",
          form: "interactive.form",
          product: "interactive.product",
          products: "interactive.products",
          catalog: "interactive.catalog",
          order_details: "interactive.order_details",
          order_status: "interactive.order_status",
        },
      },
    },
  }),

  list_messages: operation({
    method: "GET",
    path: "/v1/messages",
    scope: "inbox:read",
    tier: "lean",
    title: "List messages",
    description: "List a conversation's messages, newest first.",
    input: z.object({ conversation_id: id("Conversation", "list_conversations"), ...paging(25) }),
    output: paged(ListedMessage),
  }),

  get_conversation_context: operation({
    method: "GET",
    path: "/v1/conversations/{id}/context",
    scope: "inbox:read",
    tier: "lean",
    title: "Get conversation context",
    description:
      "Get a conversation's contact, latest messages, notes, assignment, why it waits, 24-hour window, what is allowed or why not, and warnings. Call it before answering.",
    input: z.object({
      id: id("Conversation", "list_conversations"),
      messages: z.int().min(1).max(50).default(10).describe("Latest messages, at most 50"),
    }),
    output: one(
      z.object({
        conversation: Conversation,
        /** Without attributes if the credential can't read contacts. */
        contact: Contact.omit({ organization_id: true }).partial({
          metadata: true,
          tags: true,
          blocked_reason: true,
        }),
        /** The latest assignment; null if there was none. */
        assignment: Assignment.nullable(),
        /** Why an open conversation has no agent, by the last routing decision; null if it has one. */
        waiting_reason: z.string().nullable(),
        /** The active flow run of the conversation; null if there is none. */
        flow_run: ActiveRun.nullable(),
        /** Null if the chatbot never had the conversation. */
        chatbot: BotInConversation.nullable(),
        /** Oldest first. */
        messages: z.array(ListedMessage),
        /** The latest 10 internal notes, oldest first. */
        notes: z.array(Note),
        actions: z.array(Action),
        warnings: z.array(ContextWarning),
        /** For wait_for_message: returns messages after this point. */
        cursor: z.string(),
      }),
    ),
    offers: "actions",
  }),

  wait_for_message: operation({
    method: "GET",
    path: "/v1/messages/wait",
    scope: "inbox:read",
    tier: "lean",
    title: "Wait for message",
    description:
      "Wait until a contact writes, in one conversation or any, or until the timeout. Pass the returned cursor as after in the next call.",
    input: z.object({
      conversation_id: id("Conversation", "list_conversations").optional(),
      after: z
        .string()
        .max(4096)
        .optional()
        .describe("Start after this cursor or message id. Default: from now"),
      timeout_seconds: z.int().min(0).max(55).default(25).describe("At most 55"),
    }),
    output: newer(ListedMessage).extend({
      meta: z.object({ cursor: z.string(), is_timed_out: z.boolean() }),
    }),
    waits: true,
  }),

  get_message: operation({
    method: "GET",
    path: "/v1/conversations/{conversation_id}/messages/{message_id}",
    scope: "inbox:read",
    tier: "lean",
    title: "Get message",
    description: "Get a message: content, status with times, error, and why it is delayed.",
    input: z.object({
      conversation_id: id("Conversation", "list_conversations"),
      message_id: id("Message", "list_messages"),
    }),
    output: one(Message),
  }),

  ...reactions,
  ...mediaOperations,
};
