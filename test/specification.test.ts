/** The catalogue holds the specification's endpoints: each of them, and beside them only what is named here. */
import { expect, test } from "vitest";
import { type Operation, toolMappingsOf } from "../tools/contract/index.ts";
import { catalogue } from "../tools/index.ts";

/**
 * The rows of the specification's tables, which is how it counts: 58. The two endpoints that are a second
 * path to an operation (developer-access) are rows of their own, though the catalogue has 56 operations for
 * them, each with its other path in `also`.
 */
const specification = `
  POST   /v1/api-keys
  GET    /v1/api-keys
  DELETE /v1/api-keys/{id}
  POST   /v1/developer-access/api-keys

  POST   /v1/teams
  POST   /v1/teams/{id}/members
  POST   /v1/routing/policies

  POST   /v1/automation/flows
  POST   /v1/automation/flows/{id}/trigger
  PATCH  /v1/automation/flows/{id}/toggle

  GET    /v1/conversations
  GET    /v1/conversations/{id}
  POST   /v1/conversations/{id}/assign
  POST   /v1/conversations/{id}/transfer
  POST   /v1/messages
  GET    /v1/messages
  GET    /v1/conversations/{cid}/messages/{mid}

  POST   /v1/quick-replies
  GET    /v1/quick-replies
  PUT    /v1/quick-replies/{id}
  DELETE /v1/quick-replies/{id}

  POST   /v1/contacts
  GET    /v1/contacts
  GET    /v1/contacts/{id}
  PUT    /v1/contacts/{id}
  DELETE /v1/contacts/{id}

  POST   /v1/templates
  GET    /v1/templates
  POST   /v1/templates/{id}/submit
  POST   /v1/templates/sync

  POST   /v1/cohorts
  POST   /v1/cohorts/preview-query
  POST   /v1/broadcasts
  POST   /v1/broadcasts/{id}/execute
  GET    /v1/broadcasts/{id}/metrics

  POST   /v1/chatbot/chat
  POST   /v1/chatbot/config
  GET    /v1/chatbot/status
  POST   /v1/knowledge-base/documents
  POST   /v1/knowledge-base/qa-pairs
  POST   /v1/knowledge-base/retrieve

  POST   /v1/billing/payments/orders
  POST   /v1/billing/payments/verify
  GET    /v1/billing/payments
  GET    /v1/billing/subscription
  POST   /v1/billing/addons/chatbot/subscribe
  DELETE /v1/billing/addons/chatbot/subscribe

  POST   /v1/uploads
  GET    /v1/pricing
  GET    /v1/mcp/tools
  POST   /v1/mcp/tools/call

  POST   /v1/webhook-subscriptions
  GET    /v1/webhook-subscriptions
  POST   /v1/webhook-subscriptions/{id}/test
  DELETE /v1/webhook-subscriptions/{id}
  POST   /v1/developer-access/webhooks

  POST   /v1/auth/login
  POST   /v1/auth/refresh
`
  .split("\n")
  .map((line) => line.trim())
  .filter((line) => line !== "")
  .map(comparable);

/** What the catalogue has beyond it. */
const ours = [
  "PUT /v1/auth/password",
  "GET /v1/uploads",
  "GET /v1/uploads/{}",
  "DELETE /v1/uploads/{}",
  "PUT /v1/contacts",
  "POST /v1/contacts/{}/tags",
  "GET /v1/whoami",
  "GET /v1/users",
  "POST /v1/users",
  "PUT /v1/users/{}",
  "GET /v1/inboxes",
  "POST /v1/inboxes",
  "PUT /v1/inboxes/{}",
  "GET /v1/teams",
  "GET /v1/teams/{}",
  "PUT /v1/teams/{}",
  "DELETE /v1/teams/{}",
  "GET /v1/teams/{}/members",
  "PUT /v1/teams/{}/members/{}",
  "DELETE /v1/teams/{}/members/{}",
  "GET /v1/routing/policies",
  "GET /v1/routing/policies/{}",
  "PUT /v1/routing/policies/{}",
  "DELETE /v1/routing/policies/{}",
  "POST /v1/routing/simulate",
  "GET /v1/conversations/{}/routing-decisions",
  "GET /v1/conversations/{}/context",
  "PATCH /v1/conversations/{}",
  "POST /v1/conversations/{}/unassign",
  "GET /v1/conversations/{}/assignments",
  "GET /v1/messages/wait",
  "GET /v1/webhook-subscriptions/{}",
  "PUT /v1/webhook-subscriptions/{}",
  "POST /v1/webhook-subscriptions/{}/rotate-secret",
  "GET /v1/webhook-subscriptions/{}/deliveries",
  "POST /v1/webhook-subscriptions/{}/deliveries/{}/replay",
  "POST /v1/webhook-subscriptions/{}/recover",
  "GET /v1/events",
  "POST /v1/contacts/import",
  "GET /v1/imports/{}",
];

const operations: [string, Operation][] = Object.entries(catalogue);

/** A placeholder's name is nobody's business but its own. */
function comparable(endpoint: string): string {
  return endpoint.replace(/ +/, " ").replace(/\{\w+\}/g, "{}");
}

test("has 58 endpoints", () => {
  expect(new Set(specification).size).toBe(58);
});

test("every endpoint is declared, once, and nothing else that is not named", () => {
  const declared = operations.flatMap(([, operation]) =>
    [operation, ...operation.also].map(({ path }) => comparable(`${operation.method} ${path}`)),
  );
  expect(declared.sort()).toEqual([...specification, ...ours].sort());
});

test("every tool of the specification is in the default list", () => {
  const extended = operations.filter(
    ([, { method, path, tier }]) =>
      tier === "extended" && specification.includes(comparable(`${method} ${path}`)),
  );
  expect(extended.map(([name]) => name)).toEqual([]);
});

test("every operation offers a tool but signing in and the tools' own", () => {
  const silent = operations.filter(
    ([name, operation]) => Object.keys(toolMappingsOf(name, operation)).length === 0,
  );
  expect(silent.map(([name]) => name)).toEqual([
    "login",
    "change_password",
    "refresh",
    "list_mcp_tools",
    "call_mcp_tool",
  ]);
});

type Case = readonly [keyof typeof catalogue, string, Record<string, unknown>];

const fine = {
  create_flow: { name: "f", trigger_type: "keyword", trigger_keyword: "hi", end_action_type: "none" },
  create_template: { name: "order_update", category: "utility" },
  add_team_member: { id: "team_1", user_id: "usr_1", role: "member" },
};
const nodes = [{ id: "n1", node_type: "send_message", action_config: { text: "hi" }, parent_node_id: null }];
const buttons = Array.from({ length: 4 }, () => ({ type: "quick_reply", text: "Yes" }));

/** Of the conditions that the specification calls invalid, those that need no clock and no stored thing. */
const refused: readonly Case[] = [
  ["create_flow", "trigger_keyword", { ...fine.create_flow, nodes, trigger_keyword: undefined }],
  ["create_flow", "trigger_event_type", { ...fine.create_flow, nodes, trigger_type: "event" }],
  ["create_flow", "nodes", { ...fine.create_flow, nodes: [] }],
  [
    "create_template",
    "template_data.body",
    { ...fine.create_template, template_data: { body: "x".repeat(1025) } },
  ],
  [
    "create_template",
    "template_data.buttons",
    { ...fine.create_template, template_data: { body: "x", buttons } },
  ],
  ["create_template", "name", { ...fine.create_template, name: "no spaces", template_data: { body: "x" } }],
  [
    "create_template",
    "category",
    { ...fine.create_template, category: "spam", template_data: { body: "x" } },
  ],
  ["list_templates", "status", { status: "gone" }],
  ["list_templates", "sort", { sort: "random" }],
  ["add_team_member", "max_concurrent_chats", { ...fine.add_team_member, max_concurrent_chats: 101 }],
  ["add_team_member", "max_concurrent_chats", { ...fine.add_team_member, max_concurrent_chats: 0 }],
  ["add_team_member", "role", { ...fine.add_team_member, role: "boss" }],
  ["create_team", "name", { name: "" }],
  ["create_team", "name", { name: "x".repeat(256) }],
  ["create_cohort", "name", { name: "x".repeat(256), query: {} }],
  ["create_broadcast", "name", { name: "x".repeat(256), cohort_id: "c", template_id: "t" }],
  ["create_routing_policy", "strategy", { name: "p", strategy: "random", target_type: "team" }],
  ["create_routing_policy", "target_type", { name: "p", strategy: "sticky", target_type: "bot" }],
  ["create_payment_order", "amount", { amount: 0 }],
  [
    "create_webhook",
    "description",
    { url: "https://a.example", events: ["message.read"], description: "x".repeat(501) },
  ],
  ["create_webhook", "url", { url: "ftp://a.example", events: ["message.read"] }],
  ["create_webhook", "events", { url: "https://a.example", events: [] }],
  ["add_document", "source_url", { name: "d", source_type: "pdf" }],
  ["add_document", "source_url", { name: "d", source_type: "url" }],
  ["add_document", "source_type", { name: "d", source_type: "docx" }],
  ["send_message", "text", { to: "+14155550123", type: "text" }],
  ["send_message", "text.body", { to: "+14155550123", type: "text", text: { body: "x".repeat(4097) } }],
  ["send_message", "template", { to: "+14155550123", type: "template" }],
  ["send_message", "media_url", { to: "+14155550123", type: "image" }],
  ["assign_conversation", "assigned_to", { id: "cnv_1" }],
];

test.each(refused)("%s refuses a wrong %s, and names it", (name, field, input) => {
  const parsed = catalogue[name].input.safeParse(input);
  expect(parsed.error?.issues.map(({ path }) => path.join("."))).toEqual([field]);
});

test.each<Case>([
  ["create_flow", "nodes", { ...fine.create_flow, nodes }],
  ["create_template", "template_data", { ...fine.create_template, template_data: { body: "Hi {{1}}" } }],
  ["add_team_member", "role", fine.add_team_member],
  ["add_document", "source_url", { name: "d", source_type: "markdown" }],
  ["list_payments", "limit", { limit: 1000 }],
])("%s takes what the specification shows", (name, _, input) => {
  expect(catalogue[name].input.safeParse(input).error).toBeUndefined();
});
