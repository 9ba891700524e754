/** The catalogue: every operation by name, resource by resource. */
import { apiKeys } from "./api-keys.ts";
import { auth } from "./auth.ts";
import { automation } from "./automation.ts";
import { billing } from "./billing.ts";
import { broadcasts } from "./broadcasts.ts";
import { chatbot } from "./chatbot.ts";
import { cohorts } from "./cohorts.ts";
import { contacts } from "./contacts.ts";
import { conversations } from "./conversations.ts";
import { knowledgeBase } from "./knowledge-base.ts";
import { mcp } from "./mcp.ts";
import { messages } from "./messages.ts";
import { pricing } from "./pricing.ts";
import { quickReplies } from "./quick-replies.ts";
import { routing } from "./routing.ts";
import { teams } from "./teams.ts";
import { templates } from "./templates.ts";
import { uploads } from "./uploads.ts";
import { webhooks } from "./webhooks.ts";

/** Every operation, in the order in which tools are listed. */
export const catalogue = {
  ...contacts,
  ...conversations,
  ...messages,
  ...quickReplies,
  ...templates,
  ...cohorts,
  ...broadcasts,
  ...teams,
  ...routing,
  ...automation,
  ...chatbot,
  ...knowledgeBase,
  ...uploads,
  ...webhooks,
  ...billing,
  ...pricing,
  ...apiKeys,
  ...auth,
  ...mcp,
};

export type OperationName = keyof typeof catalogue;
