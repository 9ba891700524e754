/** The chatbot: answers customers from the knowledge base. */
import { z } from "zod";
import { id, jsonObject, one, operation, phone } from "./contract/index.ts";

const Configuration = z.object({
  id: z.string(),
  name: z.string().nullable(),
  graph_definition: z.record(z.string(), z.unknown()),
  is_active: z.boolean(),
});

export const chatbot = {
  chat_with_bot: operation({
    method: "POST",
    path: "/v1/chatbot/chat",
    scope: "inbox:write",
    title: "Chat with bot",
    description:
      "Get the chatbot's answer to a message in a conversation. Find only the sources with search_knowledge_base.",
    input: z.object({
      conversation_id: id("Conversation", "list_conversations"),
      message: z.string().min(1).max(4096).describe("What the contact says"),
      contact_phone: phone.optional().describe("The contact's number"),
    }),
    output: one(z.object({ conversation_id: z.string(), response: z.string(), agent_used: z.string() })),
    hints: { openWorld: true },
  }),

  configure_chatbot: operation({
    method: "POST",
    path: "/v1/chatbot/config",
    scope: "inbox:write",
    title: "Configure chatbot",
    description: "Create or replace the organization's chatbot configuration.",
    input: z.object({
      name: z.string().min(1).max(255).optional().describe("Name of the bot"),
      graph_definition: jsonObject.describe(
        'For example {"entry_point":"main","nodes":[{"id":"main","type":"llm"}],"edges":[]}',
      ),
    }),
    output: one(Configuration),
    hints: { destructive: true, idempotent: true },
  }),

  get_chatbot_status: operation({
    method: "GET",
    path: "/v1/chatbot/status",
    scope: "inbox:read",
    title: "Get chatbot status",
    description:
      "Get whether the chatbot is ready, and the number of documents and QA pairs in its knowledge base.",
    input: z.object({}),
    output: one(z.object({ ready: z.boolean(), doc_count: z.int(), qa_count: z.int() })),
  }),
};
