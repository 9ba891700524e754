/** What each resource is, and each group of routes that belong to no resource, for the OpenAPI document. */
import type { resources } from "./index.ts";

export const tagDescriptions: Readonly<
  Record<keyof typeof resources | "webhook-events" | "simulator" | "service", string>
> = {
  contacts: "The people with whom an organization exchanges messages.",
  conversations: "The messages between a contact and an inbox, with a status and an assigned agent.",
  messages: "Messages to and from contacts: send, list, search, and wait for a reply.",
  notes: "Internal notes on conversations, which contacts never see.",
  "quick-replies": "Texts that agents send often, each with a short code.",
  templates: "Message templates, which the channel reviews before they are sent.",
  cohorts: "Saved filters of contacts, to which broadcasts are sent.",
  broadcasts: "A template sent to every contact of a cohort, with metrics.",
  users: "The people who work for an organization, each with a role.",
  teams: "Groups of users to which conversations are assigned.",
  routing: "Policies that assign conversations to agents, and their decisions.",
  inboxes: "The numbers from which an organization sends, each on one channel.",
  flows: "Automations: steps that a message, a schedule or an event starts.",
  chatbot: "The chatbot that answers from the knowledge base.",
  "knowledge-base": "Documents and pairs of questions and answers, and the search in them.",
  uploads: "Files for messages, imports and the knowledge base.",
  imports: "Contacts from a CSV file.",
  webhooks: "Subscriptions to events, their deliveries, and the list of events.",
  billing: "The subscription of an organization, and its chatbot add-on.",
  payments: "Orders and payments that add money to the wallet.",
  wallet: "The prepaid balance of an organization.",
  ledger: "The entries of the wallet, and what was spent on messages.",
  pricing: "The plans and their prices by country.",
  organization: "The settings of the organization.",
  "api-keys": "Keys for programs, each with its scopes.",
  auth: "Signing in as a user, and what a credential may do.",
  plans: "What a call would do, frozen until it runs.",
  rules: "What keys and assistants may do alone, and what needs a plan or a person.",
  mcp: "The tools of the MCP server, over REST.",
  "webhook-events": "The requests that the service sends to subscribed webhooks.",
  simulator: "The controls of the simulated channel and the simulated payment processor.",
  service: "The service itself.",
};
