/** The catalogue covers the specification: its endpoints, and the inputs that it calls valid or invalid. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { operationsOf } from "../src/platform/index.ts";
import { type JsonSchema, type Operation, toJsonSchema, toolMappingsOf } from "../tools/contract/index.ts";
import { catalogue } from "../tools/index.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import endpoints from "./support/specification.json" with { type: "json" };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

const operations: [string, Operation][] = Object.entries(catalogue);

/** Every path of the catalogue, including the second path that some operations have. */
const declared = new Map(
  operations.flatMap(([name, { method, path, credential, scope, also }]) =>
    [{ path, credential }, ...also].map(
      (one) => [routeOf(method, one.path), { name, scope, ...one }] as const,
    ),
  ),
);

/** An endpoint that takes an API key also takes an access token. */
const credentials: Readonly<Record<string, Operation["credential"]>> = {
  api_key: "any",
  access_token: "bearer",
  none: "none",
};

/** Without the names of path parameters, which the specification leaves open. */
function routeOf(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, "{}")}`;
}

test("the specification has 58 endpoints", () => {
  expect(new Set(endpoints.map(({ method, path }) => routeOf(method, path))).size).toBe(58);
});

test.each(endpoints)("$method $path is declared as specified", ({ method, path, credential, scope }) => {
  const found = declared.get(routeOf(method, path));
  expect(found?.credential).toBe(credentials[credential]);
  if (scope !== undefined) {
    expect(found?.scope).toEqual(scope);
  }
});

test("the app serves the endpoints whose modules are built, and no others", async () => {
  const document = await (await app.fetch("/v1/openapi.json")).json();
  const { paths } = document as { paths: Record<string, object> };
  const served = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => routeOf(method, path)),
  );
  const built = operationsOf();
  const isBuilt = (route: string) => (declared.get(route)?.name ?? "") in built;
  const routes = endpoints.map(({ method, path }) => routeOf(method, path));
  expect(routes.filter((route) => served.includes(route))).toEqual(routes.filter(isBuilt));
});

test("every operation of the specification is in the default list", () => {
  const routes = endpoints.map(({ method, path }) => routeOf(method, path));
  const specified = operations.filter(([, { method, path }]) => routes.includes(routeOf(method, path)));
  const unlisted = specified.filter(([name, operation]) => {
    const tiers = Object.values(toolMappingsOf(name, operation)).map(({ tier = operation.tier }) => tier);
    return tiers.length > 0 && tiers.every((tier) => tier === "extended");
  });
  expect(unlisted.map(([name]) => name)).toEqual([]);
});

test("every operation offers a tool, except signing in, what requires a person, confirmations, and the tool endpoints", () => {
  const withoutTool = operations.filter(
    ([name, operation]) => Object.keys(toolMappingsOf(name, operation)).length === 0,
  );
  expect(withoutTool.map(([name]) => name)).toEqual([
    "create_user",
    "update_user",
    "set_api_key_rules",
    "login",
    "change_password",
    "change_email",
    "update_profile",
    "refresh",
    "list_console_sessions",
    "end_console_session",
    "end_other_console_sessions",
    "approve_plan",
    "decline_plan",
    "request_confirmation",
    "confirm_plan",
    "set_rules",
    "list_mcp_tools",
    "call_mcp_tool",
    "report_rejected_call",
  ]);
});

/** Of each operation whose response is a list: the members of `meta`, and those that it needs. */
const lists = operations.flatMap(([name, { input, output }]) => {
  const { data, meta } = toJsonSchema(output, "output").properties as Record<string, JsonSchema | undefined>;
  const paging = "page" in input.shape ? ["page", "per_page", "total"] : ["total"];
  const needed = "after" in input.shape ? ["cursor"] : paging;
  return data?.type === "array" ? [{ name, needed, meta: Object.keys(Object(meta?.properties)) }] : [];
});

test.each(lists)("the list that $name returns has meta with its total or its cursor", ({ needed, meta }) => {
  expect(meta).toEqual(expect.arrayContaining(needed));
});

type Case = readonly [keyof typeof catalogue, string, Record<string, unknown>];

const valid = {
  create_flow: { name: "f", trigger_type: "keyword", trigger_keyword: "hi", end_action_type: "none" },
  create_template: { name: "order_update", category: "utility" },
  add_team_member: { id: "team_1", user_id: "usr_1", role: "member" },
};
const nodes = [{ id: "n1", node_type: "send_message", action_config: { text: "hi" }, parent_node_id: null }];
const buttons = Array.from({ length: 4 }, () => ({ type: "quick_reply", text: "Yes" }));

/** The conditions that the specification calls invalid and that need neither the clock nor the database. */
const invalid: readonly Case[] = [
  ["create_flow", "trigger_keyword", { ...valid.create_flow, nodes, trigger_keyword: undefined }],
  ["create_flow", "trigger_event_type", { ...valid.create_flow, nodes, trigger_type: "event" }],
  ["create_flow", "nodes", { ...valid.create_flow, nodes: [] }],
  ["create_flow", "end_action_type", { ...valid.create_flow, nodes, end_action_type: "close" }],
  [
    "create_template",
    "template_data.body",
    { ...valid.create_template, template_data: { body: "x".repeat(1025) } },
  ],
  [
    "create_template",
    "template_data.buttons",
    { ...valid.create_template, template_data: { body: "x", buttons } },
  ],
  ["create_template", "name", { ...valid.create_template, name: "no spaces", template_data: { body: "x" } }],
  [
    "create_template",
    "category",
    { ...valid.create_template, category: "spam", template_data: { body: "x" } },
  ],
  ["list_templates", "status", { status: "gone" }],
  ["list_templates", "sort", { sort: "random" }],
  ["add_team_member", "max_concurrent_chats", { ...valid.add_team_member, max_concurrent_chats: 101 }],
  ["add_team_member", "max_concurrent_chats", { ...valid.add_team_member, max_concurrent_chats: 0 }],
  ["add_team_member", "role", { ...valid.add_team_member, role: "boss" }],
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
];

test.each(invalid)("%s rejects an invalid %s and names the field", (name, field, input) => {
  const parsed = catalogue[name].input.safeParse(input);
  expect(parsed.error?.issues.map(({ path }) => path.join("."))).toEqual([field]);
});

test.each<Case>([
  ["create_flow", "nodes", { ...valid.create_flow, nodes }],
  ["create_template", "template_data", { ...valid.create_template, template_data: { body: "Hi {{1}}" } }],
  ["add_team_member", "role", valid.add_team_member],
  ["add_document", "source_url", { name: "d", source_type: "markdown" }],
  ["list_payments", "limit", { limit: 1000 }],
])("%s accepts an input of the specification with %s", (name, _, input) => {
  expect(catalogue[name].input.safeParse(input).error).toBeUndefined();
});
