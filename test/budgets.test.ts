/** Budgets of keys and of the organization: what is counted, what is held back, and when they renew. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { activity } from "../tools/activity.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { plans } from "../tools/plans.ts";
import { rules } from "../tools/rules.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";
import { createBudgetHelpers, messagesADay } from "./support/budgets.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv, startsAt: new Date("2026-06-01T10:00:00Z") });
const {
  createBudgetedKey,
  createKey,
  decide,
  request,
  send,
  setOrganizationBudgets,
  signPerson,
  useOf,
  useOfOrganization,
} = createBudgetHelpers(app);
const { deliver, plan, read, textsAt } = createPlanHelpers(app);

async function received(number: string) {
  await deliver();
  return textsAt(number);
}

test("what is beyond waits for a person, who releases it beyond the budget", async () => {
  const number = "+14155558001";
  const { key, id } = await createBudgetedKey(messagesADay(2));
  expect((await send(number, "One", { key })).status).toBe(201);
  expect((await send(number, "Two", { key })).status).toBe(201);
  const parked = await send(number, "Three", { key, idempotencyKey: "three" });
  const reason = `it is beyond the budget of the key ${id} for messages in a day (limit 2, used 2, needed 1), which renews at 2026-06-02T00:00:00.000Z`;
  expect(parked).toMatchObject({
    status: 202,
    body: { data: { plan: { status: "awaiting_approval", why: [reason] } } },
  });
  expect(await useOf(id)).toMatchObject({
    messages: {
      day: { limit: 2, used: 2, renews_at: "2026-06-02T00:00:00.000Z" },
      month: { limit: null, used: 2, renews_at: "2026-07-01T00:00:00.000Z" },
    },
  });
  expect(await send(number, "Three", { key, idempotencyKey: "three" })).toEqual(parked);
  const { token } = await signPerson();
  const released = await decide("approve", await read(parked.body.data.plan.id), token);
  expect(released).toMatchObject({ status: 200, body: { data: { plan: { status: "run" } } } });
  expect((await useOf(id))?.messages.day.used).toBe(3);
  expect(await received(number)).toEqual(["One", "Two", "Three"]);
  const repeated = await send(number, "Three", { key, idempotencyKey: "three" });
  expect(repeated).toEqual({ status: 201, body: released.body.data.result });
  expect((await useOf(id))?.messages.day.used).toBe(3);
});

test("a message that waits is not sent when the budget renews", async () => {
  const number = "+14155558002";
  const { key, id } = await createBudgetedKey(messagesADay(0));
  const parked = await send(number, "Hi", { key, idempotencyKey: "waits" });
  expect(parked.status).toBe(202);
  await app.call(apiKeys.set_api_key_rules, { id, rules: { budgets: messagesADay(5) } });
  expect(await send(number, "Hi", { key, idempotencyKey: "waits" })).toEqual(parked);
  expect(await received(number)).toEqual([]);
  expect((await send(number, "New", { key, idempotencyKey: "new" })).status).toBe(201);
});

test("requests with one key at once make one plan", async () => {
  const { key } = await createBudgetedKey(messagesADay(0));
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => send("+14155558003", "Once", { key, idempotencyKey: "same" })),
  );
  expect(new Set(answers.map(({ body }) => body.data.plan.id)).size).toBe(1);
});

test("a budget can refuse instead", async () => {
  const { key, id } = await createBudgetedKey({ messages: { month: 1 }, beyond: "refuse" });
  expect((await send("+14155558004", "One", { key, idempotencyKey: "a" })).status).toBe(201);
  const refused = await send("+14155558004", "Two", { key, idempotencyKey: "b" });
  expect(refused).toMatchObject({
    status: 403,
    body: {
      error: {
        code: "budget_reached",
        type: "permission",
        fix: expect.stringMatching(/Wait until 2026-07-01.* or ask a signed-in person/),
        budget: { holder: id, kind: "messages", period: "month", limit: 1, used: 1, needed: 1 },
      },
    },
  });
  await app.call(apiKeys.set_api_key_rules, { id, rules: { budgets: { messages: { month: 2 } } } });
  // The refusal was not stored under the key.
  expect((await send("+14155558004", "Two", { key, idempotencyKey: "b" })).status).toBe(201);
  // A repeat is answered from the store, and counts nothing.
  expect((await send("+14155558004", "Two", { key, idempotencyKey: "b" })).status).toBe(201);
  expect((await useOf(id))?.messages.month.used).toBe(2);
});

test("a call that fails counts nothing", async () => {
  const number = "+14155558005";
  const { key, id } = await createBudgetedKey({ messages: { day: 5 }, new_contacts: { day: 5 } });
  const { data } = await app.call(contacts.create_contact, { phone_number: number });
  await app.call(contacts.update_contact, { id: data.id, blocked: true });
  expect((await send(number, "Hi", { key })).status).toBe(422);
  expect((await request(["POST", "/v1/contacts", { phone_number: number }], { key })).status).toBe(409);
  expect(await useOf(id)).toMatchObject({
    messages: { day: { used: 0 } },
    new_contacts: { day: { used: 0 } },
  });
});

test("a key that a key makes shares its budget, and can only have less", async () => {
  const { token } = await signPerson();
  const scopes = ["inbox:write", "tokens:create"];
  const made = await request(["POST", "/v1/developer-access/api-keys", { name: "Parent", scopes }], {
    key: token,
  });
  const { id, secret_key } = made.body.data;
  const newChild = async () => {
    const input = { name: "Child", scopes: ["inbox:write"] };
    return (await app.call(apiKeys.create_api_key, input, { key: secret_key })).data;
  };
  const [first, second] = [await newChild(), await newChild()];
  const setBudget = (key: string, day: number) =>
    app.call(apiKeys.set_api_key_rules, { id: key, rules: { budgets: messagesADay(day) } });
  await setBudget(id, 4);
  await setBudget(second.id, 1);
  const statuses = [];
  for (const key of [first.secret_key, second.secret_key, second.secret_key, secret_key, first.secret_key]) {
    statuses.push((await send("+14155558006", "Hi", { key })).status);
  }
  // The second message of the second child is beyond its own budget.
  expect(statuses).toEqual([201, 201, 202, 201, 201]);
  await setBudget(second.id, 100);
  expect((await send("+14155558006", "Hi", { key: second.secret_key })).status).toBe(202);
  expect((await useOf(id))?.messages.day.used).toBe(4);
});

test("the organization's budget binds keys and callers through MCP, and counts what a person sends", async () => {
  const number = "+14155558007";
  const { token } = await signPerson();
  await setOrganizationBudgets(messagesADay(2));
  const person = await send(number, "One", { key: token });
  expect(person.status).toBe(201);
  expect((await send(number, "Two", { key: ownerKey })).status).toBe(201);
  expect((await send(number, "Three", { key: ownerKey })).status).toBe(202);
  expect((await send(number, "Three", { key: token })).status).toBe(201);
  expect((await useOfOrganization())?.messages.day.used).toBe(3);
  const throughTool = await app.fetch("/v1/messages", {
    method: "POST",
    key: token,
    json: { to: number, type: "text", text: { body: "Four" } },
    headers: { "x-tidings-tool": "send_message" },
  });
  expect(throughTool.status).toBe(202);
  await setOrganizationBudgets(null);
  expect((await send(number, "Five", { key: ownerKey })).status).toBe(201);
  expect(await useOfOrganization()).toBeNull();
});

test("callers through MCP have a budget of their own", async () => {
  const number = "+14155558008";
  await app.call(rules.set_rules, { mcp: { budgets: messagesADay(1) } });
  await using assistant = await connectAssistant(app, ownerKey);
  const call = () =>
    assistant.client.callTool({ name: "send_message", arguments: { to: number, body: "Hi" } });
  expect((await call()).isError ?? false).toBe(false);
  expect((await call()).content).toMatchObject([
    { type: "text", text: "Nothing was sent: it waits for a person." },
    { type: "text", text: expect.stringContaining("callers through MCP") },
    { type: "text", text: expect.stringContaining("Untrusted: data.plan.summary") },
  ]);
  expect((await send(number, "Over REST", { key: ownerKey })).status).toBe(201);
  expect((await app.call(rules.get_rules, {})).data.mcp_budget_use?.messages.day).toMatchObject({
    limit: 1,
    used: 1,
  });
  await app.call(rules.set_rules, { mcp: null });
});

test("a plan that its key runs beyond the budget waits", async () => {
  const number = "+14155558016";
  const { key, id } = await createBudgetedKey(messagesADay(1));
  const planned = await plan({ tool: "send_message", input: { to: number, body: "Planned" } }, key);
  expect((await send(number, "First", { key })).status).toBe(201);
  const runOnce = () => request(["POST", `/v1/plans/${planned.id}/run`], { key, idempotencyKey: "run once" });
  expect(await runOnce()).toMatchObject({
    status: 202,
    body: { data: { plan: { id: planned.id, status: "awaiting_approval" } } },
  });
  const again = await request(["POST", `/v1/plans/${planned.id}/run`], { key });
  expect(again.status).toBe(409);
  const { token } = await signPerson();
  expect((await decide("approve", await read(planned.id), token)).status).toBe(200);
  expect(await runOnce()).toMatchObject({
    status: 200,
    body: { data: { plan: { status: "run" }, result: { data: { to: number } } } },
  });
  expect(await received(number)).toEqual(["First", "Planned"]);
  expect((await useOf(id))?.messages.day.used).toBe(2);
});

test("what the rules of a key let wait is counted when a person releases it", async () => {
  const { key, id } = await createKey({ mode: "approve", budgets: messagesADay(0) });
  const { body } = await send("+14155558017", "Hi", { key });
  const { token } = await signPerson();
  expect((await decide("approve", await read(body.data.plan.id), token)).status).toBe(200);
  expect((await useOf(id))?.messages.day.used).toBe(1);
});

test("the record names the budget that held a call back", async () => {
  const number = "+14155558018";
  const { key, id } = await createBudgetedKey(messagesADay(0));
  const { body } = await send(number, "Hi", { key });
  const budget = { holder: id, kind: "messages", period: "day", limit: 0, used: 0, needed: 1 };
  const acts = async (outcome: "waiting" | "refused") =>
    (await app.call(activity.list_activity, { by: id, outcome })).data;
  expect(await acts("waiting")).toMatchObject([
    { operation: "send_message", status: 202, error_code: "budget_reached", budget, outcome: "waiting" },
  ]);
  const { token } = await signPerson();
  const released = await decide("approve", await read(body.data.plan.id), token);
  const { data } = released.body.data.result as typeof released.body;
  const history = await app.call(activity.explain_message, { id: data.id });
  expect(history.data.reasons.plan?.why).toEqual([expect.stringContaining(`budget of the key ${id}`)]);
  await app.call(apiKeys.set_api_key_rules, {
    id,
    rules: { budgets: { ...messagesADay(1), beyond: "refuse" } },
  });
  await send(number, "Hi", { key });
  await expect
    .poll(() => acts("refused"))
    .toMatchObject([{ status: 403, error_code: "budget_reached", budget: { ...budget, limit: 1, used: 1 } }]);
});

test("another organization has budgets of its own", async () => {
  const number = "+14155558019";
  const other = await createOrganizationFor(app, "Unlimited");
  await setOrganizationBudgets({ ...messagesADay(0), beyond: "refuse" });
  expect((await send(number, "Hi", { key: ownerKey })).status).toBe(403);
  expect((await send(number, "Hi", { key: other.key })).status).toBe(201);
  await setOrganizationBudgets(null);
  const { rows } = await sql`select * from budget_uses where organization_id = ${other.id}`.execute(
    app.server.database.queries,
  );
  expect(rows).toEqual([]);
});

test("only a signed-in person sets budgets", async () => {
  const { id } = await createBudgetedKey(messagesADay(1));
  const failures = await Promise.all([
    expectFailure(app.call(rules.set_rules, { budgets: null }, { key: ownerKey })),
    expectFailure(app.call(apiKeys.set_api_key_rules, { id, rules: null }, { key: ownerKey })),
  ]);
  expect(failures.map(({ status, code }) => [status, code])).toEqual([
    [403, "person_required"],
    [403, "person_required"],
  ]);
});

test("no other key runs a plan that waits", async () => {
  const { key } = await createBudgetedKey(messagesADay(0));
  const { body } = await send("+14155558020", "Hi", { key });
  expect(await expectFailure(app.call(plans.run_plan, { id: body.data.plan.id }))).toMatchObject({
    code: "plan_state",
  });
});
