/** The operations to which rules limit a key: nothing else can be called, by any path. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import type { Operation } from "../tools/contract/index.ts";
import { catalogue } from "../tools/index.ts";
import { alwaysAllowedOperations } from "../tools/rule-operations.ts";
import { rules } from "../tools/rules.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { connectAssistant } from "./support/assistant.ts";
import { createChatbotHelpers } from "./support/chatbot.ts";
import { openStream } from "./support/event-stream.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { say } from "./support/flows.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, signPerson, decide, request, send } = createApprovalHelpers(app);
const { countAtChannel, draft, plan, read } = createPlanHelpers(app);

const scopes = ["inbox:read", "inbox:write", "contacts:read", "contacts:write"];
const limited = (operations: string[]) => createKey({ allow: { operations } }, scopes);

const refused = (message: string | RegExp = /.*/) => ({
  status: 403,
  body: { error: { code: "not_allowed_by_rules", message: expect.stringMatching(message) } },
});

const flow = {
  name: "Greeting",
  end_action_type: "none",
  trigger_type: "keyword",
  trigger_keyword: "sesame",
  nodes: [say("Open")],
};

test("a key that can only send messages calls nothing else, and the error names what it may call", async () => {
  const { key } = await limited(["send_message", "get_message"]);
  expect((await send("+14155557001", "Hi", { key })).status).toBe(201);
  const message = "Nothing was done: the rules do not allow create_flow, only send_message, get_message.";
  expect(await request(["POST", "/v1/automation/flows", flow], { key })).toMatchObject({
    status: 403,
    body: { error: { code: "not_allowed_by_rules", message } },
  });
  const calls = [
    ["POST", "/v1/teams", { name: "Mine" }],
    ["GET", "/v1/contacts"],
    ["GET", "/v1/organization"],
    ["POST", "/v1/contacts", { phone_number: "+14155557002" }],
    ["POST", "/simulator/inbound", { from: "+14155557002", text: "Hi" }],
    ["GET", "/v1/events/stream"],
  ] as const;
  for (const call of calls) {
    expect(await request(call, { key }), call.join(" ")).toMatchObject(refused());
  }
});

test("a stream of events ends when the rules of its key no longer allow it", async () => {
  const { key, id } = await createKey({ allow: { operations: ["list_events"] } }, ["inbox:read"]);
  await using stream = await openStream(app, { key, query: { types: "message.received" } });
  const kept = { allow: { operations: ["list_events", "get_message"] } };
  await app.call(apiKeys.set_api_key_rules, { id, rules: kept });
  const { conversation_id } = await openPhone(app, "+14155557012").write("Hello");
  expect(await stream.next()).toMatchObject({ data: { data: { conversation_id } } });
  await app.call(apiKeys.set_api_key_rules, { id, rules: { allow: { operations: ["get_message"] } } });
  expect(await stream.next()).toBeUndefined();
  expect(await request(["GET", "/v1/events/stream"], { key })).toMatchObject(refused("list_events"));
});

test("the missing scope comes before the rules, and the rules before the fields", async () => {
  const { key } = await limited(["send_message"]);
  expect(await request(["POST", "/v1/broadcasts", {}], { key })).toMatchObject({
    body: { error: { code: "insufficient_scope" } },
  });
  expect(await request(["POST", "/v1/teams", {}], { key })).toMatchObject(refused());
  const tool = { name: "create_team", arguments: { nonsense: 1 } };
  expect(await request(["POST", "/v1/mcp/tools/call", tool], { key })).toMatchObject(refused());
});

test("plans of other operations are neither made, read, amended nor run", async () => {
  const { key } = await limited(["send_message"]);
  const input = { name: "Night shift" };
  for (const call of [
    { operation: "create_team", input },
    { tool: "create_team", input },
  ]) {
    expect(await request(["POST", "/v1/plans", call], { key })).toMatchObject(refused(/create_team/));
  }
  const { id } = await plan({ operation: "create_team", input }, ownerKey);
  const own = await plan({ tool: "send_message", input: { to: "+14155557003", body: "Hi" } }, key);
  for (const call of [
    ["POST", `/v1/plans/${id}/run`],
    ["GET", `/v1/plans/${id}`],
    ["PUT", `/v1/plans/${id}`, { input: { name: "Mine" } }],
    ["DELETE", `/v1/plans/${id}`],
  ] as const) {
    expect(await request(call, { key }), call.join(" ")).toMatchObject(refused(/create_team/));
  }
  const { body } = await request(["GET", "/v1/plans"], { key });
  expect(body.data).toMatchObject([{ id: own.id, operation: "send_message" }]);
  expect((await request(["POST", `/v1/plans/${own.id}/run`], { key })).status).toBe(200);
  // The plan that was made before the rules became stricter.
  const narrowed = await limited(["create_team", "send_message"]);
  const earlier = await plan({ operation: "create_team", input }, narrowed.key);
  await app.call(apiKeys.set_api_key_rules, {
    id: narrowed.id,
    rules: { allow: { operations: ["send_message"] } },
  });
  expect(await request(["POST", `/v1/plans/${earlier.id}/run`], narrowed)).toMatchObject(refused());
});

test("a call that a rule holds back stays within the operations", async () => {
  const { key } = await createKey({ mode: "approve", allow: { operations: ["send_message"] } }, scopes);
  expect(await request(["POST", "/v1/teams", { name: "Mine" }], { key })).toMatchObject(refused());
  const parked = await send("+14155557004", "Hi", { key });
  expect(parked.status).toBe(202);
  const { token } = await signPerson("owner");
  const shown = await read(parked.body.data.plan.id);
  expect((await request(["GET", `/v1/plans/${shown.id}`], { key })).status).toBe(200);
  expect((await decide("approve", shown, token)).status).toBe(200);
});

test("MCP lists what the key may call, the gateways run nothing else, and whoami says so", async () => {
  const { key } = await limited(["send_message", "list_teams", "create_team"]);
  await using assistant = await connectAssistant(app, key);
  const { tools } = await assistant.client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["send_message", "send_media_message", "whoami", "plan_call"]),
  );
  expect(names).not.toContain("list_contacts");
  const { data } = await app.call(catalogue.list_mcp_tools, {}, { key });
  expect(data.map(({ name }) => name)).toEqual(expect.arrayContaining(["send_message", "create_team"]));
  expect(data.map(({ name }) => name)).not.toContain("create_flow");
  const call = async (name: string, sent: Record<string, unknown>) => {
    const { isError = false, content } = await assistant.client.callTool({ name, arguments: sent });
    return `${isError} ${JSON.stringify(content)}`;
  };
  expect(await call("list_contacts", {})).toMatch(/^true .*not_allowed_by_rules/);
  expect(await call("run_write_tool", { name: "create_flow", arguments: flow })).toMatch(
    /^true .*not_allowed_by_rules.*create_flow, only send_message/,
  );
  expect(await call("run_read_tool", { name: "list_flows" })).toMatch(/^true .*not_allowed_by_rules/);
  expect(await call("plan_call", { tool: "create_flow", arguments: flow })).toMatch(/^true .*not_allowed_by/);
  expect(await call("run_write_tool", { name: "create_team", arguments: { name: "Ours" } })).toMatch(
    /^false/,
  );
  const { data: about } = await app.call(catalogue.whoami, {}, { key });
  expect(about.allowed_operations).toEqual(["send_message", "list_teams", "create_team"]);
  const hidden = about.hidden_tools.filter(({ setting }) => setting === "rules: allow.operations");
  expect(hidden.flatMap((group) => group.tools)).toEqual(
    expect.arrayContaining(["create_flow", "list_flows"]),
  );
  const { data: owner } = await app.call(catalogue.whoami, {});
  expect(owner.allowed_operations).toBeNull();
});

test("rules of callers through MCP limit these calls, reads too, and no call over REST", async () => {
  await app.call(rules.set_rules, { mcp: { allow: { operations: ["list_teams"] } } });
  await using assistant = await connectAssistant(app, ownerKey);
  const names = (await assistant.client.listTools()).tools.map(({ name }) => name);
  expect(names).not.toContain("send_message");
  const over = await assistant.client.callTool({ name: "list_contacts", arguments: {} });
  expect(JSON.stringify(over)).toContain("not_allowed_by_rules");
  const planned = await assistant.client.callTool({
    name: "plan_call",
    arguments: { tool: "send_message", arguments: { to: "+14155557005", body: "Hi" } },
  });
  expect(JSON.stringify(planned)).toContain("not_allowed_by_rules");
  expect((await request(["GET", "/v1/contacts"], { key: ownerKey })).status).toBe(200);
  await app.call(rules.set_rules, { mcp: null });
});

test("a key that a key makes calls what both rules list, also when its own list is longer", async () => {
  const { token } = await signPerson("owner");
  const made = await request(
    ["POST", "/v1/developer-access/api-keys", { name: "Parent", scopes: ["inbox:write", "tokens:create"] }],
    { key: token },
  );
  const { id, secret_key } = made.body.data;
  const parentRules = { allow: { operations: ["send_message", "create_api_key"] } };
  await app.call(apiKeys.set_api_key_rules, { id, rules: parentRules });
  const child = await app.call(
    apiKeys.create_api_key,
    { name: "Child", scopes: ["inbox:write"] },
    { key: secret_key },
  );
  const childRules = { allow: { operations: ["send_message", "create_team"] } };
  await app.call(apiKeys.set_api_key_rules, { id: child.data.id, rules: childRules });
  const key = child.data.secret_key;
  expect((await app.call(catalogue.whoami, {}, { key })).data.allowed_operations).toEqual(["send_message"]);
  expect(await request(["POST", "/v1/teams", { name: "Mine" }], { key })).toMatchObject(
    refused("create_team, only send_message."),
  );
  expect((await send("+14155557006", "Hi", { key })).status).toBe(201);
});

test("a flow and a schedule do what the key may do that saves them", async () => {
  const { key, id } = await createKey({ allow: { operations: ["create_flow", "create_broadcast"] } });
  expect(await request(["POST", "/v1/automation/flows", flow], { key })).toMatchObject(
    refused("send_message, only create_flow, create_broadcast"),
  );
  const { cohort, template } = await draft(720, 2);
  const scheduled_at = new Date(app.now().getTime() + 3_600_000).toISOString();
  const broadcast = { name: "Later", cohort_id: cohort.id, template_id: template.id };
  const json = { ...broadcast, variable_mapping: { "1": "name" }, scheduled_at };
  expect(await request(["POST", "/v1/broadcasts", json], { key })).toMatchObject(
    refused("execute_broadcast"),
  );
  const operations = ["create_flow", "create_broadcast", "send_message", "execute_broadcast"];
  await app.call(apiKeys.set_api_key_rules, { id, rules: { allow: { operations } } });
  expect((await request(["POST", "/v1/automation/flows", flow], { key })).status).toBe(201);
  const scheduled = await request(["POST", "/v1/broadcasts", json], { key });
  expect(scheduled.status).toBe(201);
  await openPhone(app, "+14155557007").write("sesame");
  const before = await countAtChannel();
  // Stricter rules bind what was saved before.
  const stricter = { allow: { operations: ["create_flow", "create_broadcast"] } };
  await app.call(apiKeys.set_api_key_rules, { id, rules: stricter });
  await openPhone(app, "+14155557008").write("sesame");
  await app.advanceTime(3_700_000);
  expect(await countAtChannel()).toBe(before);
  const { data } = await app.call(catalogue.get_broadcast, { id: scheduled.body.data.id });
  expect(data).toMatchObject({ execution_status: "failed", failure_reason: "not_allowed_by_rules" });
});

test("the bot answers within the operations of the key that saved it", async () => {
  const { configure, addPair, setInbox } = createChatbotHelpers(app);
  const { graph_definition } = await configure();
  await addPair("What do you do?", "Nothing");
  await setInbox(true);
  const { key, id } = await limited(["configure_chatbot", "send_message"]);
  expect((await request(["POST", "/v1/chatbot/config", { graph_definition }], { key })).status).toBe(200);
  const before = await countAtChannel();
  await openPhone(app, "+14155557009").write("What do you do?");
  await app.advanceTime(2_000);
  expect(await countAtChannel()).toBe(before + 1);
  const stricter = { allow: { operations: ["configure_chatbot"] } };
  await app.call(apiKeys.set_api_key_rules, { id, rules: stricter });
  await openPhone(app, "+14155557011").write("What do you do?");
  await app.advanceTime(2_000);
  expect(await countAtChannel()).toBe(before + 1);
  await setInbox(false);
});

test("a name that no operation of a key has is rejected with the nearest one", async () => {
  const { id } = await limited(["send_message"]);
  const cases = [
    ["send_mesage", "Did you mean send_message?"],
    ["send_media_message", "Did you mean send_message?"],
    ["create_user", "No operation that a key may call"],
  ] as const;
  for (const [name, text] of cases) {
    const set = app.call(apiKeys.set_api_key_rules, {
      id,
      rules: { allow: { operations: ["get_message", name] } },
    });
    const failure = await expectFailure(set);
    expect(failure).toMatchObject({
      status: 400,
      code: "operation_unknown",
      error: { param: "rules.allow.operations[1]" },
    });
    expect(JSON.stringify(failure.error)).toContain(text);
  }
  const settings = app.call(rules.set_rules, { mcp: { allow: { operations: ["list_contact"] } } });
  expect((await expectFailure(settings)).error).toMatchObject({ param: "mcp.allow.operations[0]" });
});

test("the context of a conversation offers what the rules allow", async () => {
  const { key } = await limited(["send_message", "get_conversation_context"]);
  const { conversation_id } = await openPhone(app, "+14155557010").write("Hello");
  const { data } = await app.call(catalogue.get_conversation_context, { id: conversation_id }, { key });
  const allowed = data.actions.filter(({ is_allowed }) => is_allowed).map(({ tool }) => tool);
  expect(allowed).toContain("send_media_message");
  expect(allowed).not.toContain("assign_conversation");
  const assign = data.actions.find(({ tool }) => tool === "assign_conversation");
  expect(assign?.reason).toContain("do not allow assign_conversation");
});

test("what every key may call exists: itself, tools, and the plans of a key", () => {
  const operations = Object.entries<Operation>(catalogue);
  const derived = operations
    .filter(([, { credential, path }]) => {
      const isAbout = /^\/v1\/(?:whoami$|mcp\/|plans)/.test(path);
      return credential === "any" && isAbout;
    })
    .map(([name]) => name);
  expect([...alwaysAllowedOperations].sort()).toEqual(derived.sort());
});
