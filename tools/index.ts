/** The catalogue: every operation by name, resource by resource. */
import { activity } from "./activity.ts";
import { apiKeys } from "./api-keys.ts";
import { auth } from "./auth.ts";
import { billing } from "./billing.ts";
import { broadcasts } from "./broadcasts/index.ts";
import { chatbot } from "./chatbot.ts";
import { clock } from "./clock.ts";
import { cohorts } from "./cohorts/index.ts";
import { contacts } from "./contacts.ts";
import { conversations } from "./conversations.ts";
import { flows } from "./flows/index.ts";
import { imports } from "./imports.ts";
import { inboxes } from "./inboxes.ts";
import { knowledgeBase } from "./knowledge-base/index.ts";
import { ledger } from "./ledger.ts";
import { mcp } from "./mcp.ts";
import { messages } from "./messages/index.ts";
import { notes } from "./notes.ts";
import { operator } from "./operator.ts";
import { organization } from "./organization.ts";
import { payments } from "./payments.ts";
import { plans } from "./plans.ts";
import { prices } from "./prices.ts";
import { pricing } from "./pricing.ts";
import { quickReplies } from "./quick-replies.ts";
import { routing } from "./routing.ts";
import { rules } from "./rules.ts";
import { teams } from "./teams.ts";
import { templates } from "./templates/index.ts";
import { uploads } from "./uploads.ts";
import { users } from "./users.ts";
import { wallet } from "./wallet.ts";
import { webhooks } from "./webhooks.ts";

/** Every resource by the name of its file; tools are listed in this order. */
export const resources = {
  contacts,
  conversations,
  messages,
  notes,
  "quick-replies": quickReplies,
  templates,
  cohorts,
  broadcasts,
  users,
  teams,
  routing,
  inboxes,
  flows,
  chatbot,
  "knowledge-base": knowledgeBase,
  uploads,
  imports,
  webhooks,
  billing,
  payments,
  wallet,
  ledger,
  pricing,
  organization,
  "api-keys": apiKeys,
  auth,
  plans,
  activity,
  rules,
  mcp,
};

/** The intersection of a union's members. */
type UnionToIntersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** Every operation by name. */
export const catalogue: UnionToIntersection<(typeof resources)[keyof typeof resources]> = Object.assign(
  {},
  ...Object.values(resources),
);

/**
 * The operations of the service's operator, which require the operator's key. None of them is a tool or in
 * the OpenAPI document.
 */
export const operatorCatalogue = { ...operator, ...prices, ...clock };

export type OperationName = keyof typeof catalogue;
