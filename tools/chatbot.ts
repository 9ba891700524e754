/** The chatbot: answers customers from the knowledge base. */
import { z } from "zod";
import {
  type ErrorEntry,
  errorEntry,
  id,
  jsonObject,
  no,
  one,
  operation,
  phone,
  timestamp,
  untrusted,
  yes,
} from "./contract/index.ts";
import { TeamWarning } from "./teams.ts";

const Configuration = z.object({
  id: z.string(),
  name: z.string().nullable(),
  /** The graph in its normal form. */
  graph_definition: z.record(z.string(), z.unknown()),
  is_active: z.boolean(),
  /** Warnings about teams that the graph hands over to. */
  warnings: z.array(TeamWarning),
  created_at: timestamp,
  updated_at: timestamp,
});

/** The source of an answer: a passage of a document, or a QA pair with its question. */
export const AnswerSource = z.object({
  type: z.enum(["chunk", "qa_pair"]),
  document_id: z.string().nullable(),
  document_name: z.string().nullable(),
  heading: untrusted(z.string()).nullable(),
  page: z.int().nullable(),
  /** The position of the passage in the document, from 1. */
  chunk: z.int().nullable(),
  question: z.string().nullable(),
  /**
   * Whether the source has too little in common with the message to count as found; null if an earlier
   * version stored it.
   */
  below_threshold: z.boolean().nullable(),
});

/** How the bot found an answer. */
const answerMode = z.enum(["extractive", "language_model"]);

export const chatbot = {
  chat_with_bot: operation({
    method: "POST",
    path: "/v1/chatbot/chat",
    scope: "inbox:write",
    failures: [402],
    effect: "outward",
    title: "Chat with bot",
    description:
      "Get the chatbot's answer to a message, without sending it. Find only the sources with search_knowledge_base.",
    input: z.object({
      conversation_id: id("Conversation", "list_conversations"),
      message: z.string().trim().min(1).max(4096).describe("From the contact"),
      contact_phone: phone.optional().describe("The contact's number"),
      hand_off: z.boolean().optional().describe("Hand off if the bot would"),
    }),
    output: one(
      z.object({
        conversation_id: z.string(),
        response: untrusted(z.string()),
        /** The node that answered, followed by "(extractive)" if the answer is quoted. */
        agent_used: z.string(),
        sources: z.array(AnswerSource),
        /** What the search found, best first. */
        found: z.array(AnswerSource),
        /** Whether the conversation was handed off to a person, which is done only with hand_off. */
        handed_off: z.boolean(),
        /** Whether a person is needed; `response` then says so. */
        would_hand_off: z.boolean(),
        /** Why a person is needed. */
        reason: z.string().nullable(),
      }),
    ),
    hints: {
      destructive: no("The answer is only returned; with hand_off, a person can return the conversation."),
      idempotent: no("Each call gets another answer."),
      openWorld: yes("It may ask a language model outside this service."),
    },
  }),

  configure_chatbot: operation({
    method: "POST",
    path: "/v1/chatbot/config",
    scope: "inbox:write",
    title: "Configure chatbot",
    description:
      "Set the organization's chatbot. It answers in inboxes with settings.chatbot, and where a flow has the node chatbot.",
    input: z.object({
      name: z.string().trim().min(1).max(255).optional().describe("Name"),
      graph_definition: jsonObject.describe(
        'For example {"entry_point":"main","nodes":[{"id":"main","type":"llm"}],"edges":[]}',
      ),
      is_active: z.boolean().optional().describe("Whether it answers"),
    }),
    output: one(Configuration),
    hints: {
      destructive: no("The former configuration can be set again."),
      idempotent: yes("The same configuration a second time changes nothing."),
    },
  }),

  get_chatbot_config: operation({
    method: "GET",
    path: "/v1/chatbot/config",
    scope: "inbox:read",
    title: "Get chatbot configuration",
    description: "Get the organization's chatbot configuration, with its graph.",
    input: z.object({}),
    output: one(Configuration),
    tier: "extended",
  }),

  get_chatbot_status: operation({
    method: "GET",
    path: "/v1/chatbot/status",
    scope: "inbox:read",
    title: "Get chatbot status",
    description: "Get whether the chatbot is ready, how it answers, and the size of its knowledge base.",
    input: z.object({}),
    output: one(
      z.object({
        /** Whether the chatbot is configured and active, and its knowledge base is not empty. */
        ready: z.boolean(),
        doc_count: z.int(),
        qa_count: z.int(),
        mode: answerMode,
        /** The name of the language model. */
        model: z.string().nullable(),
        /**
         * Input and output tokens of the language model in this calendar month (UTC); null without a language
         * model.
         */
        tokens_used: z.int().min(0).nullable(),
        /**
         * From this number of tokens on, the model is not called in this month, and a person takes over;
         * null: no limit.
         */
        token_limit: z.int().nullable(),
        /** Which languages the search by meaning understands. */
        embedder_note: z.string(),
      }),
    ),
  }),
};

export const chatbotErrors = {
  chatbot_graph_invalid: errorEntry(
    "invalid_request",
    400,
    "The graph is not valid. {reason}",
    "Correct every field of details, and send the request again. Nothing was saved.",
  ),
  chatbot_not_configured: errorEntry(
    "conflict",
    409,
    "The chatbot is not configured, or not active.",
    "Configure it with configure_chatbot (POST /v1/chatbot/config), with is_active true.",
  ),
  chatbot_config_not_found: errorEntry(
    "not_found",
    404,
    "The chatbot is not configured.",
    "Configure it with configure_chatbot (POST /v1/chatbot/config).",
  ),
  contact_mismatch: errorEntry(
    "business_rule",
    422,
    "contact_phone is not the number of the conversation's contact.",
    "Leave it out, or send the number that get_conversation shows.",
  ),
} as const satisfies Record<string, ErrorEntry>;

/** The bot's part in a conversation. */
export const BotInConversation = z.object({
  /**
   * active: the bot answers. handed_off: a person must take over. ended: the part ended for another reason.
   */
  state: z.enum(["active", "handed_off", "ended"]),
  since: timestamp,
  /** Why the bot's part ended. */
  reason: z.string().nullable(),
  /** For the person who takes over: the reason, the question, and what the search found. */
  handed_off: z
    .object({ reason: z.string(), question: untrusted(z.string()), found: z.array(AnswerSource) })
    .nullable(),
});
