/** Finding what needs attention: the search of messages, and the report about the inbox. */
import { z } from "zod";
import { inputTimestamp, one, operation, pageSize, timestamp, untrusted } from "../contract/index.ts";
import { conversationStatuses } from "../conversations.ts";
import { messageDirections } from "./message.ts";

/** What a report lists of each kind. */
export const maxReported = 10;

export const defaultUrgentWords = "urgent, emergency, asap, immediately, complaint, refund, cancel, lawyer";

/** Members without a value are left out. */
const ReportedConversation = z.object({
  conversation_id: z.string(),
  contact_name: untrusted(z.string()).optional(),
  assigned_to_name: z.string().optional(),
  waiting_since: timestamp.optional(),
  /** Only of an unread conversation. */
  unread_count: z.int().optional(),
  /** The beginning of the latest message. */
  text: untrusted(z.string()).optional(),
});

const ReportedMessage = z.object({
  conversation_id: z.string(),
  message_id: z.string(),
  contact_name: untrusted(z.string()).optional(),
});

const ReportedAd = z.object({
  source_id: z.string(),
  /** For example ad or post. */
  source_type: z.string().optional(),
  headline: untrusted(z.string()).optional(),
  conversation_count: z.int(),
});

export const searches = {
  search_messages: operation({
    method: "GET",
    path: "/v1/messages/search",
    scope: "inbox:read",
    tier: "lean",
    title: "Search messages",
    description:
      "Find conversations by words of their messages, newest match first, with the text around the match. Notes are not searched.",
    input: z.object({
      query: z
        .string()
        .max(500)
        .regex(/[\p{L}\p{N}]/u, "Send at least one word.")
        .describe("Words that the message has, or their beginnings"),
      direction: z.enum(messageDirections).optional().describe("inbound: from contacts"),
      after: z.string().max(4096).optional().describe("cursor of the previous page"),
      per_page: pageSize(20),
    }),
    output: one(
      z.object({
        conversations: z.array(
          z.object({
            id: z.string(),
            contact_id: z.string(),
            contact_name: untrusted(z.string()).nullable(),
            phone_number: z.string().nullable(),
            status: z.enum(conversationStatuses),
            /** Of the newest message that matches and the 999 before it in the conversation. */
            match_count: z.int(),
            /** The newest message that matches. */
            match: z.object({
              message_id: z.string(),
              direction: z.enum(messageDirections),
              /** The part of the text around the match. */
              text: untrusted(z.string()),
              created_at: timestamp,
            }),
          }),
        ),
        /** For the next page; null if there is none. */
        cursor: z.string().nullable(),
        /** False while the oldest messages are still being prepared for the search. */
        is_complete: z.boolean(),
      }),
    ),
  }),

  get_inbox_report: operation({
    method: "GET",
    path: "/v1/inbox/report",
    scope: "inbox:read",
    title: "Get inbox report",
    description:
      "Get what needs attention: counts, who waits longest, unread conversations, failed messages, urgent words, ads clicked. Begin a day with it.",
    input: z.object({
      since: inputTimestamp.optional().describe("Of failures, urgent words, ads; default: 24 hours ago"),
      urgent_words: z
        .string()
        .max(500)
        .default(defaultUrgentWords)
        .describe("Comma-separated, in customers' languages; default: English"),
    }),
    output: one(
      z.object({
        at: timestamp,
        since: timestamp,
        counts: z.object({
          open: z.int(),
          pending: z.int(),
          /** Open and without an agent. */
          unassigned: z.int(),
          unread: z.int(),
          /** The contact waits for an answer. */
          waiting: z.int(),
          failed: z.int(),
        }),
        /** The longest first, at most 10, as in the other lists. */
        waiting: z.array(ReportedConversation),
        /** The latest first. */
        unread: z.array(ReportedConversation),
        failed: z.array(
          ReportedMessage.extend({
            /** Its beginning, as it was sent. */
            text: untrusted(z.string()).optional(),
            broadcast_id: z.string().optional(),
            code: z.string(),
            failed_at: timestamp,
          }),
        ),
        urgent: z.array(ReportedMessage.extend({ text: untrusted(z.string()), created_at: timestamp })),
        /** Ads and posts by which contacts came, by number of conversations, most first. */
        ads: z.array(ReportedAd),
      }),
    ),
  }),
};
