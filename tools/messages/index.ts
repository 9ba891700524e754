/** Messages: what is sent to a contact and what comes back. */
import { z } from "zod";
import { Contact } from "../contacts.ts";
import { id, one, operation, paged, paging, recipient } from "../contract/index.ts";
import { Assignment, Conversation, conversationStatuses } from "../conversations.ts";
import { body, caption, components, file_name, media_url, NewMessage, TemplateContent } from "./content.ts";
import { interactiveFields } from "./interactive.ts";
import { ListedMessage, Message, mediaTypes } from "./message.ts";

export { messageErrors } from "./errors.ts";
export { messageEvents } from "./events.ts";
export { MessageError, mediaTypes, messageStatuses, messageTypes } from "./message.ts";

/** One thing that can be done with a conversation, by its tool's name. */
const Action = z.object({
  tool: z.string(),
  /** Whether it would be accepted now. */
  is_allowed: z.boolean(),
  /** Why not, and what to do instead; null when it is allowed. */
  reason: z.string().nullable(),
  /** Of update_conversation: what the status may become. */
  statuses: z.array(z.enum(conversationStatuses)).optional(),
});

const sendHints = { destructive: true, openWorld: true } as const;
const windowRule =
  "Only within 24 hours of the contact's last message; later it is refused (the simulated channel warns and sends).";

export const messages = {
  send_message: operation({
    method: "POST",
    path: "/v1/messages",
    scope: "inbox:write",
    title: "Send message",
    description:
      "Send a text, a file, a template or a choice to a phone number. The contact and the conversation are found or created. Answers when the message is queued; get_message tells its further states.",
    input: NewMessage,
    output: one(
      Message.pick({
        id: true,
        conversation_id: true,
        to: true,
        type: true,
        status: true,
        created_at: true,
      }).extend({ warnings: z.array(z.string()).optional() }),
    ),
    status: 201,
    hints: sendHints,
    tools: {
      send_message: {
        title: "Send message",
        description: `Send a text message to a phone number; needs no contact or conversation beforehand. Answers when it is queued: get_message tells whether it was delivered. ${windowRule}`,
        input: z.object({ to: recipient, body }),
        fixed: { type: "text" },
        place: { body: "text.body" },
      },
      send_media_message: {
        title: "Send media message",
        description: `Send an image, video, document or audio file. ${windowRule}`,
        input: z.object({
          to: recipient,
          type: z.enum(mediaTypes).describe("What the file is"),
          media_url,
          caption,
          file_name,
        }),
      },
      send_template_message: {
        title: "Send template message",
        description:
          "Send an approved template to a phone number, also outside the 24-hour window. list_templates with status approved finds one; create_broadcast sends it to many.",
        input: z.object({
          to: recipient,
          template_name: TemplateContent.shape.name,
          language: TemplateContent.shape.language,
          components,
        }),
        fixed: { type: "template" },
        place: {
          template_name: "template.name",
          language: "template.language",
          components: "template.components",
        },
      },
      send_interactive_message: {
        title: "Send interactive message",
        description: `Send a text with up to 3 reply buttons, or with a list of up to 10 rows; the contact's choice comes back as a message with reply. ${windowRule}`,
        input: z.object({ to: recipient, ...interactiveFields }),
        fixed: { type: "interactive" },
        place: {
          body: "interactive.body",
          header: "interactive.header",
          footer: "interactive.footer",
          buttons: "interactive.buttons",
          list: "interactive.list",
        },
      },
    },
  }),

  list_messages: operation({
    method: "GET",
    path: "/v1/messages",
    scope: "inbox:read",
    title: "List messages",
    description: "List a conversation's messages with their text and status, newest first.",
    input: z.object({ conversation_id: id("Conversation", "list_conversations"), ...paging(25) }),
    output: paged(ListedMessage),
  }),

  get_conversation_context: operation({
    method: "GET",
    path: "/v1/conversations/{id}/context",
    scope: "inbox:read",
    title: "Get conversation context",
    description:
      "All that is needed to act on a conversation, in one call: the contact, the latest messages, who has it and why, the 24-hour window, and what may be done now, with the reason where it may not. Call it before answering.",
    input: z.object({
      id: id("Conversation", "list_conversations"),
      messages: z.int().min(1).max(50).default(10).describe("How many of the latest messages, at most 50"),
    }),
    output: one(
      z.object({
        conversation: Conversation,
        /** Without attributes for a credential that may not read contacts. */
        contact: Contact.omit({ organization_id: true }).partial({ metadata: true, tags: true }),
        /** How it came to its agent or lost them, and why; null if it never had one. */
        assignment: Assignment.nullable(),
        /** Oldest first. */
        messages: z.array(ListedMessage),
        actions: z.array(Action),
        /** For wait_for_message: what comes after this moment. */
        cursor: z.string(),
      }),
    ),
    offers: "actions",
  }),

  wait_for_message: operation({
    method: "GET",
    path: "/v1/messages/wait",
    scope: "inbox:read",
    title: "Wait for message",
    description:
      "Wait until a contact writes, in one conversation or in any, or the time is up. Answers at most 20 messages. Pass the answer's cursor as after in the next call, and nothing is missed in between.",
    input: z.object({
      conversation_id: id("Conversation", "list_conversations").optional(),
      after: z
        .string()
        .max(4096)
        .optional()
        .describe(
          "cursor of the last answer or of get_conversation_context, or the id of a message; from now when left out",
        ),
      timeout_seconds: z.int().min(0).max(55).default(25).describe("How long to wait, at most 55"),
    }),
    output: one(
      z.object({ messages: z.array(ListedMessage), cursor: z.string(), is_timed_out: z.boolean() }),
    ),
    waits: true,
  }),

  get_message: operation({
    method: "GET",
    path: "/v1/conversations/{conversation_id}/messages/{message_id}",
    scope: "inbox:read",
    title: "Get message",
    description:
      "Get one message: its content, its status (queued, sent, delivered, read, failed) with the time of each, and why it failed.",
    input: z.object({
      conversation_id: id("Conversation", "send_message or list_conversations"),
      message_id: id("Message", "send_message or list_messages"),
    }),
    output: one(Message),
  }),
};
