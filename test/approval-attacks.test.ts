/**
 * What a program with a key tries in order to write to a customer without the person whom its rules ask for.
 * Each case counts the messages at the simulated channel: none arrives.
 */
import { sql } from "kysely";
import { afterEach, beforeAll, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { plans } from "../tools/plans.ts";
import { users } from "../tools/users.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { createChatbotHelpers } from "./support/chatbot.ts";
import { say } from "./support/flows.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, signPerson, decide, request, send } = createApprovalHelpers(app);
const { countAtChannel, draft, read } = createPlanHelpers(app);

const target = "+14155554001";
let key = "";
let keyId = "";
let wide = "";
let before = 0;

beforeAll(async () => {
  ({ key, id: keyId } = await createKey({ mode: "approve" }));
  // A key of a user, with account scopes too.
  const { token } = await signPerson("owner");
  const scopes = ["inbox:write", "contacts:write", "tokens:create", "tokens:read"];
  const made = await request(["POST", "/v1/developer-access/api-keys", { name: "Wide", scopes }], {
    key: token,
  });
  const { id, secret_key } = made.body.data;
  await app.call(apiKeys.set_api_key_rules, { id, rules: { mode: "approve" } });
  wide = secret_key;
  before = await countAtChannel();
});

afterEach(async () => {
  expect(await countAtChannel()).toBe(before);
});

/** A message that waits, as it is shown. */
async function park(by = key) {
  const { status, body } = await send(target, "Attack", { key: by });
  expect(status).toBe(202);
  return read(body.data.plan.id);
}

const refused = (code: string) => ({ status: 403, body: { error: { code } } });

test("makes a user to approve as it", async () => {
  const person = { email: "me@example.com", name: "Me", role: "owner", password: "a long enough password" };
  expect(await request(["POST", "/v1/users", person], { key: wide })).toMatchObject(
    refused("person_required"),
  );
});

test("makes another key", async () => {
  const json = { name: "Another", scopes: ["inbox:write"] };
  expect((await request(["POST", "/v1/api-keys", json], { key: wide })).status).toBe(202);
});

test("sends with a key that a person released: it has the same rules", async () => {
  const json = { name: "Released", scopes: ["inbox:write"] };
  const { body } = await request(["POST", "/v1/api-keys", json], { key: wide });
  const { token } = await signPerson("owner");
  const released = await decide("approve", await read(body.data.plan.id), token);
  const { secret_key } = (released.body.data.result as typeof released.body).data;
  expect((await send(target, "Attack", { key: secret_key })).status).toBe(202);
});

test("loosens its own rules, and those of callers through MCP", async () => {
  const json = { rules: null };
  expect(await request(["PUT", `/v1/api-keys/${keyId}/rules`, json], { key: wide })).toMatchObject(
    refused("person_required"),
  );
  expect(await request(["PUT", "/v1/rules", { mcp: null }], { key: wide })).toMatchObject(
    refused("person_required"),
  );
});

test("deletes the key whose rules bind it", async () => {
  expect((await request(["DELETE", `/v1/api-keys/${keyId}`], { key: wide })).status).toBe(202);
});

test("approves as a key", async () => {
  const plan = await park();
  expect(await decide("approve", plan, key)).toMatchObject(refused("person_required"));
  expect(await decide("approve", plan, ownerKey)).toMatchObject(refused("person_required"));
});

test("runs the plan that waits, with its own key and with another", async () => {
  const { id } = await park();
  expect((await request(["POST", `/v1/plans/${id}/run`], { key })).status).toBe(202);
  const other = await request(["POST", `/v1/plans/${id}/run`], { key: ownerKey });
  expect(other).toMatchObject({ status: 409, body: { error: { code: "plan_state" } } });
});

test("plans the call and runs the plan", async () => {
  const call = { operation: "send_message", input: { to: target, type: "text", text: { body: "Attack" } } };
  const { body } = await request(["POST", "/v1/plans", call], { key });
  expect((await request(["POST", `/v1/plans/${body.data.id}/run`], { key })).status).toBe(202);
});

test("amends the plan after it was shown", async () => {
  const shown = await park();
  await request(["PUT", `/v1/plans/${shown.id}`, { input: { text: { body: "Worse" } } }], { key });
  const { token } = await signPerson();
  expect(await decide("approve", shown, token)).toMatchObject({ status: 409 });
});

test("amends and withdraws the plan of another credential", async () => {
  const call = { operation: "send_message", input: { to: target, type: "text", text: { body: "Ours" } } };
  const { id } = (await app.call(plans.plan_call, call)).data;
  const amended = await request(["PUT", `/v1/plans/${id}`, { input: { text: { body: "Theirs" } } }], { key });
  expect(amended).toMatchObject({ status: 409, body: { error: { code: "approval_required" } } });
  expect((await request(["DELETE", `/v1/plans/${id}`], { key })).status).toBe(409);
  expect((await read(id)).samples).toMatchObject([{ text: "Ours" }]);
});

test("creates the contact first, and then writes to it", async () => {
  const { key: careful } = await createKey({ approve: { new_contacts: true } });
  const person = { phone_number: "+14155554007" };
  expect((await request(["POST", "/v1/contacts", person], { key: careful })).status).toBe(202);
  expect((await request(["PUT", "/v1/contacts", person], { key: careful })).status).toBe(202);
  expect((await send(person.phone_number, "Attack", { key: careful })).status).toBe(202);
});

test("hides its way through MCP, and calls the tools over REST", async () => {
  const tool = { name: "send_message", arguments: { to: target, body: "Attack" } };
  expect((await request(["POST", "/v1/mcp/tools/call", tool], { key })).status).toBe(200);
  expect((await send(target, "Attack", { key })).status).toBe(202);
});

test("saves a flow, which the customer starts", async () => {
  const flow = {
    name: "Attack",
    end_action_type: "none",
    trigger_type: "keyword",
    trigger_keyword: "attack",
    nodes: [say("Attack")],
  };
  expect((await request(["POST", "/v1/automation/flows", flow], { key })).status).toBe(202);
  // With rules that let it save, what the flow sends is bound by them.
  const saver = await createKey({});
  expect((await request(["POST", "/v1/automation/flows", flow], saver)).status).toBe(201);
  await openPhone(app, "+14155554005").write("attack");
  before += 1;
  expect(await countAtChannel()).toBe(before);
  await app.call(apiKeys.set_api_key_rules, { id: saver.id, rules: { mode: "approve" } });
  await openPhone(app, "+14155554002").write("attack");
});

test("saves a flow on contact.created, and imports or creates a contact", async () => {
  const flow = {
    name: "New",
    end_action_type: "none",
    trigger_type: "event",
    trigger_event_type: "contact.created",
    nodes: [say("Attack")],
  };
  expect((await request(["POST", "/v1/automation/flows", flow], { key })).status).toBe(202);
  const made = await request(["POST", "/v1/contacts", { phone_number: "+14155554003" }], { key });
  expect(made.status).toBe(202);
});

test("saves the bot, which answers the customer", async () => {
  const { configure, addPair, setInbox } = createChatbotHelpers(app);
  const { graph_definition } = await configure();
  await addPair("What do you do?", "Attack");
  await setInbox(true);
  const saver = await createKey({});
  const saved = await request(["POST", "/v1/chatbot/config", { graph_definition }], saver);
  expect(saved.status).toBe(200);
  await openPhone(app, "+14155554006").write("What do you do?");
  await app.advanceTime(2_000);
  before += 1;
  expect(await countAtChannel()).toBe(before);
  await app.call(apiKeys.set_api_key_rules, { id: saver.id, rules: { mode: "approve" } });
  const { conversation_id } = await openPhone(app, "+14155554004").write("What do you do?");
  await app.advanceTime(2_000);
  const { rows } =
    await sql`select status, reason from chatbot_turns where conversation_id = ${conversation_id}`.execute(
      app.server.database.queries,
    );
  expect(rows).toEqual([{ status: "handed_off", reason: "approval_required" }]);
  await setInbox(false);
});

test("schedules a broadcast", async () => {
  const { cohort, template } = await draft(620, 2);
  const saver = await createKey({});
  const scheduled_at = new Date(app.now().getTime() + 3_600_000).toISOString();
  const json = { name: "Later", cohort_id: cohort.id, template_id: template.id, scheduled_at };
  const variable_mapping = { "1": "name" };
  expect((await request(["POST", "/v1/broadcasts", { ...json, variable_mapping }], { key })).status).toBe(
    202,
  );
  const saved = await request(["POST", "/v1/broadcasts", { ...json, variable_mapping }], saver);
  expect(saved.status).toBe(201);
  await app.call(apiKeys.set_api_key_rules, { id: saver.id, rules: { mode: "approve" } });
  await app.advanceTime(3_700_000);
  const { data } = await app.call(broadcasts.get_broadcast, { id: saved.body.data.id });
  expect(data).toMatchObject({ execution_status: "failed", failure_reason: "approval_required" });
});

test("retries, resumes, tests and triggers", async () => {
  const { id } = await draft(621, 1);
  const calls = [
    ["POST", `/v1/broadcasts/${id}/retry`, {}],
    ["POST", `/v1/broadcasts/${id}/resume`, {}],
    ["POST", "/v1/automation/flows/flow_none/trigger", { contact_id: "con_none" }],
  ] as const;
  for (const call of calls) {
    expect((await request(call, { key })).status).toBeGreaterThanOrEqual(400);
  }
  expect((await request(["POST", `/v1/broadcasts/${id}/test`, { to: target }], { key })).status).toBe(202);
});

test("changes the broadcast after it was shown", async () => {
  const { id, cohort } = await draft(622, 2);
  const parked = await request(["POST", `/v1/broadcasts/${id}/execute`, {}], { key });
  const shown = await read(parked.body.data.plan.id);
  const other = await draft(623, 2);
  // Even somebody who may change it: the plan is of what was shown.
  await app.call(broadcasts.update_broadcast, { id, cohort_id: other.cohort.id });
  expect(other.cohort.id).not.toBe(cohort.id);
  const { token } = await signPerson();
  expect(await decide("approve", shown, token)).toMatchObject({
    status: 409,
    body: { error: { code: "plan_changed" } },
  });
});

test("swaps the inbox from simulated to real", async () => {
  const { body } = await request(["GET", "/v1/inboxes"], { key: ownerKey });
  const [inbox] = body.data as unknown as readonly { readonly id: string }[];
  const settings = { service_window: "strict" };
  const path = `/v1/inboxes/${inbox?.id}`;
  expect((await request(["PUT", path, { settings }], { key: wide })).status).toBe(202);
  const { body: after } = await request(["GET", "/v1/inboxes"], { key: ownerKey });
  expect(after.data).toEqual(body.data);
});

test("raises its credit limit", async () => {
  const json = { credit_limit: 1_000_000 };
  const answer = await request(["PATCH", "/v1/operator/organizations/org_none", json], { key: wide });
  expect(answer.status).toBeGreaterThanOrEqual(401);
});

test("sends a file behind an address that may change", async () => {
  const json = { to: target, type: "image", image: { link: "https://example.com/menu.png" } };
  expect((await request(["POST", "/v1/messages", json], { key })).status).toBeGreaterThanOrEqual(400);
});

test("is released by a person whose role was lowered meanwhile", async () => {
  const json = { name: "All", query: {} };
  const { body } = await request(["POST", "/v1/cohorts", json], { key });
  const { token, id } = await signPerson();
  await app.call(users.update_user, { id, role: "agent" });
  const answer = await decide("approve", await read(body.data.plan.id), token);
  expect(answer).toMatchObject(refused("insufficient_scope"));
});

test("floods the person with plans", async () => {
  const flooder = await createKey({ mode: "approve" });
  const flood = (first: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) => send(`+1415556${4000 + first + n}`, "Flood", flooder)),
    );
  for (let first = 0; first < 90; first += 10) {
    await flood(first, 10);
  }
  const answers = await flood(90, 20);
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(10);
  expect(answers.find(({ status }) => status !== 202)).toMatchObject({
    status: 422,
    body: { error: { code: "too_many_plans" } },
  });
});

test("gets one message for two approvals at once, and not two", async () => {
  const plan = await park();
  const tokens = await Promise.all([signPerson(), signPerson()]);
  const answers = await Promise.all(tokens.map(({ token }) => decide("approve", plan, token)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect((await app.call(plans.get_plan, { id: plan.id })).data.status).toBe("run");
  // The one that a person released.
  before += 1;
});
