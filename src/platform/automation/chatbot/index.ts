/** The chatbot: answers from the knowledge base, for a caller and in conversations. */

import { chatbot as contract } from "../../../../tools/chatbot.ts";
import { fail } from "../../../../tools/errors.ts";
import { newJob } from "../../../jobs/job.ts";
import { countKnowledge } from "../../content/knowledge-base/index.ts";
import { implement } from "../../foundation/kernel/index.ts";
import { erasesContact } from "../../inbox/contacts/index.ts";
import { conversationsTaken, heldByBot, takesMessage } from "../../inbox/conversations/index.ts";
import { automationIn } from "../../inbox/messages/index.ts";
import { chat } from "./chat.ts";
import { configure, findConfig, showConfig } from "./config.ts";
import {
  answerJob,
  endForErased,
  endWhenTaken,
  findHeldByBot,
  isForBotIn,
  readBot,
  receiveJob,
  recordMessages,
  releaseJob,
} from "./conversations/index.ts";
import { deleteOldTurnsJob, eraseTurns } from "./turns.ts";
import { countTokens } from "./usage.ts";

export { requireActiveConfig as requireBot } from "./config.ts";
export { flowAnswers, showSource, startBot } from "./conversations/index.ts";

export const chatbot = implement(contract, {
  tables: ["chatbot_configs", "chatbot_conversations", "chatbot_turns"],
  operations: {
    chat_with_bot: chat,

    async configure_chatbot(input, context) {
      const { tx, organization, now } = context;
      const config = await configure(input, context);
      if (!config.is_active) {
        await tx.enqueue([newJob(releaseJob, { organization_id: organization, after: "" })]);
      }
      return { data: await showConfig(tx, config, now) };
    },

    async get_chatbot_config(_, { db, organization, now }) {
      const config = await findConfig(db, organization);
      if (!config) {
        throw fail("chatbot_config_not_found");
      }
      return { data: await showConfig(db, config, now) };
    },

    async get_chatbot_status(_, { db, organization, world }) {
      const { languageModel, monthlyTokens: token_limit = null } = world;
      const [config, { doc_count, qa_count }, used] = await Promise.all([
        findConfig(db, organization),
        countKnowledge(db, organization),
        languageModel ? countTokens(db, organization, world.now()) : null,
      ]);
      const model = languageModel?.model ?? null;
      const ready = config?.is_active === true && doc_count + qa_count > 0;
      const mode = model === null ? ("extractive" as const) : ("language_model" as const);
      const { languageNote: embedder_note } = world.embedder;
      const tokens = { tokens_used: used, token_limit: languageModel ? token_limit : null };
      return { data: { ready, doc_count, qa_count, mode, model, ...tokens, embedder_note } };
    },
  },
  jobs: [receiveJob, answerJob, releaseJob, deleteOldTurnsJob],
  recordEvents: recordMessages,
  hooks: [
    heldByBot.handledBy(findHeldByBot),
    takesMessage.handledBy(isForBotIn),
    automationIn.handledBy(async (db, conversation) => ({ chatbot: await readBot(db, conversation) })),
    conversationsTaken.handledBy(endWhenTaken),
  ],
  erase: erasesContact({ now: endForErased, later: [eraseTurns] }),
});
