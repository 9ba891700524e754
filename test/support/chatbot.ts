/** Configures the chatbot of a test, fills its knowledge base, and lets contacts write. */
import { expect } from "vitest";
import { chatbot } from "../../tools/chatbot.ts";
import type { InputOf } from "../../tools/contract/index.ts";
import { conversations } from "../../tools/conversations.ts";
import { inboxes } from "../../tools/inboxes.ts";
import { knowledgeBase } from "../../tools/knowledge-base/index.ts";
import { messages } from "../../tools/messages/index.ts";
import type { TestApp } from "./app.ts";
import { textsOf } from "./flows.ts";
import { openPhone } from "./simulator.ts";

/** As in the specification. */
export const sampleGraph = { entry_point: "main", nodes: [{ id: "main", type: "llm" }], edges: [] };

export const handoffText = "I can't answer that. A person will get back to you.";

export function createChatbotHelpers(app: TestApp) {
  return {
    async configure(fields: Partial<InputOf<typeof chatbot.configure_chatbot>> = {}) {
      return (await app.call(chatbot.configure_chatbot, { graph_definition: sampleGraph, ...fields })).data;
    },

    async addPair(question: string, answer: string) {
      await app.call(knowledgeBase.add_qa_pair, { question, answer });
      await app.runDueJobs();
    },

    /** The first inbox is the bot's, or not. */
    async setInbox(isBots: boolean) {
      const [inbox] = (await app.call(inboxes.list_inboxes, {})).data;
      expect(inbox).toBeDefined();
      await app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { chatbot: isBots } });
    },

    /** A contact writes; returns the conversation. The jobs are run. */
    async write(phone: string, text: string): Promise<string> {
      const { conversation_id } = await openPhone(app, phone).write(text);
      await app.advanceTime(2_000);
      return conversation_id;
    },

    /** What the organization sent to a phone. */
    async sentTo(phone: string) {
      return textsOf(await openPhone(app, phone).listMessages());
    },

    async contextOf(id: string) {
      return (await app.call(messages.get_conversation_context, { id })).data;
    },

    async conversation(id: string) {
      return (await app.call(conversations.get_conversation, { id })).data;
    },

    /** The turns of a conversation, oldest first. */
    async turnsOf(conversation_id: string) {
      return app.server.database.queries
        .selectFrom("chatbot_turns")
        .selectAll()
        .where("conversation_id", "=", conversation_id)
        .orderBy("id")
        .execute();
    },
  };
}
