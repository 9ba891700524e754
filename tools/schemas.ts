/**
 * The names of the schemas in the document that describes the API: the resources of the specification, and
 * the objects that several of them have. A schema without a name is named after its operation. No name is one
 * of JavaScript's own, such as Error, which generated code would hide.
 */
import type { z } from "zod";
import { apiKeys } from "./api-keys.ts";
import { auth } from "./auth.ts";
import { billing } from "./billing.ts";
import { broadcasts, VariableMapping } from "./broadcasts/index.ts";
import { AnswerSource, chatbot } from "./chatbot.ts";
import { cohorts } from "./cohorts/index.ts";
import { contacts } from "./contacts.ts";
import { DeletionResult, ErrorBody, ErrorDetail, RecordedActor } from "./contract/index.ts";
import { conversations } from "./conversations.ts";
import { flows } from "./flows/index.ts";
import { imports } from "./imports.ts";
import { inboxes } from "./inboxes.ts";
import { knowledgeBase } from "./knowledge-base/index.ts";
import { ledger } from "./ledger.ts";
import { mcp } from "./mcp.ts";
import { MessageError, messages } from "./messages/index.ts";
import { notes } from "./notes.ts";
import { BusinessHours, organization } from "./organization.ts";
import { payments } from "./payments.ts";
import { plans } from "./plans.ts";
import { pricing } from "./pricing.ts";
import { quickReplies } from "./quick-replies.ts";
import { routing } from "./routing.ts";
import { TeamWarning, teams } from "./teams.ts";
import { templates } from "./templates/index.ts";
import { uploads } from "./uploads.ts";
import { users } from "./users.ts";
import { wallet } from "./wallet.ts";
import { webhooks } from "./webhooks.ts";

export const schemas = {
  Contact: dataOf(contacts.get_contact),
  ListedContact: itemOf(contacts.list_contacts),
  Conversation: dataOf(conversations.get_conversation),
  ListedConversation: itemOf(conversations.list_conversations),
  Assignment: dataOf(conversations.unassign_conversation),
  Message: dataOf(messages.get_message),
  ListedMessage: itemOf(messages.list_messages),
  SentMessage: dataOf(messages.send_message),
  MessageError,
  Note: dataOf(notes.add_note),
  QuickReply: dataOf(quickReplies.get_quick_reply),
  Template: dataOf(templates.get_template),
  ListedTemplate: itemOf(templates.list_templates),
  Cohort: itemOf(cohorts.list_cohorts),
  CohortWithErrors: dataOf(cohorts.get_cohort),
  CohortPreview: dataOf(cohorts.preview_cohort),
  DeclaredAttribute: dataOf(cohorts.declare_attribute),
  Broadcast: dataOf(broadcasts.get_broadcast),
  BroadcastRecipient: itemOf(broadcasts.list_broadcast_recipients),
  BroadcastMetrics: dataOf(broadcasts.get_broadcast_metrics),
  BroadcastEstimate: dataOf(broadcasts.estimate_broadcast),
  VariableValue: VariableMapping.out.valueType,
  User: dataOf(users.update_user),
  ListedUser: itemOf(users.list_users),
  Team: dataOf(teams.update_team),
  ListedTeam: itemOf(teams.list_teams),
  TeamMember: dataOf(teams.update_team_member),
  ListedTeamMember: itemOf(teams.list_team_members),
  TeamWarning,
  RoutingPolicy: dataOf(routing.get_routing_policy),
  RoutingDecision: itemOf(routing.list_routing_decisions),
  Inbox: dataOf(inboxes.create_inbox),
  Flow: dataOf(flows.get_flow),
  ListedFlow: itemOf(flows.list_flows),
  SavedFlow: dataOf(flows.create_flow),
  FlowRun: itemOf(flows.list_flow_runs),
  FlowRunDetails: dataOf(flows.get_flow_run),
  FlowRehearsal: dataOf(flows.rehearse_flow),
  ChatbotConfiguration: dataOf(chatbot.get_chatbot_config),
  ChatbotAnswer: dataOf(chatbot.chat_with_bot),
  AnswerSource,
  KnowledgeBaseDocument: dataOf(knowledgeBase.get_document),
  QaPair: dataOf(knowledgeBase.get_qa_pair),
  RetrievalResult: dataOf(knowledgeBase.search_knowledge_base).shape.results.element,
  Upload: dataOf(uploads.upload_file),
  ListedUpload: itemOf(uploads.list_uploads),
  Import: dataOf(imports.get_import),
  WebhookSubscription: dataOf(webhooks.get_webhook),
  WebhookDelivery: itemOf(webhooks.list_webhook_deliveries),
  ListedEvent: itemOf(webhooks.list_events),
  Subscription: dataOf(billing.get_subscription),
  ChatbotAddon: dataOf(billing.get_chatbot_addon),
  PaymentOrder: dataOf(payments.create_payment_order),
  Payment: dataOf(payments.list_payments).shape.payments.element,
  Wallet: dataOf(wallet.get_wallet),
  LedgerEntry: itemOf(ledger.list_ledger_entries),
  CallPlan: dataOf(plans.plan_call),
  CallPlanWithTargets: dataOf(plans.get_plan),
  PricingPlan: dataOf(pricing.get_pricing).shape.plans.element,
  Organization: dataOf(organization.get_organization),
  BusinessHours,
  ApiKey: itemOf(apiKeys.list_api_keys),
  CreatedApiKey: dataOf(apiKeys.create_api_key),
  Session: dataOf(auth.login),
  McpTool: itemOf(mcp.list_mcp_tools),
  Actor: RecordedActor,
  Deletion: DeletionResult,
  ErrorResponse: ErrorBody,
  ErrorDetail,
} as const satisfies Record<string, z.core.$ZodType>;

/** The schema of `data` in an operation's response. */
function dataOf<Data extends z.ZodType>(operation: {
  readonly output: { readonly shape: { readonly data: Data } };
}): Data {
  return operation.output.shape.data;
}

/** The schema of each object in the `data` of a list. */
function itemOf<Item extends z.ZodType>(operation: {
  readonly output: { readonly shape: { readonly data: { readonly element: Item } } };
}): Item {
  return operation.output.shape.data.element;
}
