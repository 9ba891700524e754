/** Flows, the bot and broadcasts at the end of a budget: the rest is left to a person. */
import { afterEach, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { cancelDuring, createBroadcastHelpers } from "./support/broadcasts.ts";
import { createBudgetHelpers, messagesADay } from "./support/budgets.ts";
import { createChatbotHelpers } from "./support/chatbot.ts";
import { createFlowHelpers, say, textsOf } from "./support/flows.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const startsAt = new Date("2026-06-01T10:00:00Z");
const app = useTestApp({ env: trustedProxyEnv, startsAt });
const { createBudgetedKey, decide, request, send, setOrganizationBudgets, signPerson, useOf } =
  createBudgetHelpers(app);
const { create, runsOf } = createFlowHelpers(app);
const { draft, plan, read } = createPlanHelpers(app);
const { deliver, get } = createBroadcastHelpers(app);

const hour = 3_600_000;

const flowOf = (keyword: string) => ({
  name: "Answer",
  end_action_type: "none",
  trigger_type: "keyword",
  trigger_keyword: keyword,
  nodes: [say("Answer")],
});

/** A person writes; returns the texts that the person got. */
async function write(number: string, text: string) {
  const phone = openPhone(app, number);
  const { conversation_id } = await phone.write(text);
  await app.advanceTime(2_000);
  return { conversation_id, texts: textsOf(await phone.listMessages()) };
}

const execute = (id: string, key: string) => request(["POST", `/v1/broadcasts/${id}/execute`, {}], { key });
const resume = (id: string, key: string) => request(["POST", `/v1/broadcasts/${id}/resume`, {}], { key });

async function stateOf(id: string) {
  await deliver();
  const { execution_status, paused_reason, paused_budget, stats } = await get(id);
  return { execution_status, paused_reason, paused_budget, delivered: stats.delivered };
}

afterEach(async () => {
  await setOrganizationBudgets(null);
});

test("a flow counts on the budget of the key that saved it, and its run fails beyond", async () => {
  const { key, id } = await createBudgetedKey(messagesADay(1));
  expect((await request(["POST", "/v1/automation/flows", flowOf("limited")], { key })).status).toBe(201);
  expect((await write("+14155558201", "limited")).texts).toEqual(["Answer"]);
  const beyond = await write("+14155558202", "limited");
  expect(beyond.texts).toEqual([]);
  expect(await runsOf(beyond.conversation_id)).toMatchObject([
    { status: "failed", reason: "budget_reached" },
  ]);
  expect((await useOf(id))?.messages.day.used).toBe(1);
  // The key itself shares the budget.
  expect((await send("+14155558201", "Hi", { key })).status).toBe(202);
});

test("a flow that a person saved counts on the organization's budget", async () => {
  await create([say("Ours")], { trigger_keyword: "ours" });
  await setOrganizationBudgets(messagesADay(1));
  expect((await write("+14155558203", "ours")).texts).toEqual(["Ours"]);
  const beyond = await write("+14155558204", "ours");
  expect(beyond.texts).toEqual([]);
  expect(await runsOf(beyond.conversation_id)).toMatchObject([
    { status: "failed", reason: "budget_reached" },
  ]);
});

test("the bot hands over beyond the budget of the key that saved it", async () => {
  const { addPair, configure, setInbox, turnsOf } = createChatbotHelpers(app);
  const { graph_definition } = await configure();
  await addPair("Do you sell gift cards?", "Yes, at the till.");
  await setInbox(true);
  const { key, id } = await createBudgetedKey(messagesADay(1));
  const saved = await request(["POST", "/v1/chatbot/config", { graph_definition }], { key });
  expect(saved.status).toBe(200);
  expect((await write("+14155558205", "Do you sell gift cards?")).texts).toEqual(["Yes, at the till."]);
  const beyond = await write("+14155558206", "Do you sell gift cards?");
  expect(beyond.texts).toEqual([]);
  const turns = await turnsOf(beyond.conversation_id);
  expect(turns).toMatchObject([{ status: "handed_off", reason: "budget_reached" }]);
  expect((await useOf(id))?.messages.day.used).toBe(1);
  await setInbox(false);
});

test("a broadcast pauses at the limit, and continues when the budget renews", async () => {
  const { id } = await draft(821, 5);
  const { key, id: keyId } = await createBudgetedKey(messagesADay(3));
  expect((await execute(id, key)).status).toBe(200);
  const paused = {
    execution_status: "paused",
    paused_reason: "budget_reached",
    paused_budget: { holder: keyId, kind: "messages", period: "day", limit: 3, used: 3, needed: 1 },
    delivered: 3,
  };
  expect(await stateOf(id)).toMatchObject(paused);
  expect((await resume(id, key)).status).toBe(200);
  expect(await stateOf(id)).toMatchObject(paused);
  await app.advanceTime(24 * hour);
  expect((await resume(id, key)).status).toBe(200);
  expect(await stateOf(id)).toEqual({
    execution_status: "completed",
    paused_reason: null,
    paused_budget: null,
    delivered: 5,
  });
  expect((await useOf(keyId))?.messages).toMatchObject({ day: { used: 2 }, month: { used: 5 } });
});

test("a broadcast that is cancelled while a batch reaches the limit stays cancelled", {
  tags: "postgres",
}, async () => {
  const { id } = await draft(826, 2);
  const { key } = await createBudgetedKey(messagesADay(1));
  await execute(id, key);
  await cancelDuring(app, id, deliver);
  expect(await stateOf(id)).toMatchObject({ execution_status: "cancelled", paused_reason: null });
});

test("a person who resumes a broadcast lets it go beyond the budget, and it is counted", async () => {
  const { id } = await draft(822, 4);
  const { key, id: keyId } = await createBudgetedKey(messagesADay(1));
  await execute(id, key);
  expect(await stateOf(id)).toMatchObject({ execution_status: "paused", delivered: 1 });
  const { token } = await signPerson();
  expect((await resume(id, token)).status).toBe(200);
  expect(await stateOf(id)).toMatchObject({ execution_status: "completed", delivered: 4 });
  expect((await useOf(keyId))?.messages.day.used).toBe(4);
});

test("the plan of a broadcast that a person releases goes beyond the budget", async () => {
  const { id } = await draft(823, 3);
  const { key, id: keyId } = await createBudgetedKey({ messages: { day: 1 } });
  await app.call(apiKeys.set_api_key_rules, {
    id: keyId,
    rules: { mode: "approve", budgets: messagesADay(1) },
  });
  const { body } = await execute(id, key);
  const { token } = await signPerson();
  expect((await decide("approve", await read(body.data.plan.id), token)).status).toBe(200);
  expect(await stateOf(id)).toMatchObject({ execution_status: "completed", delivered: 3 });
  expect((await useOf(keyId))?.messages.day.used).toBe(3);
});

test("a key runs the plan of a broadcast, which pauses at the limit", async () => {
  const { id } = await draft(824, 3);
  const { key } = await createBudgetedKey(messagesADay(2));
  const made = await plan({ operation: "execute_broadcast", input: { id } }, key);
  expect((await request(["POST", `/v1/plans/${made.id}/run`], { key })).status).toBe(200);
  expect(await stateOf(id)).toMatchObject({ paused_reason: "budget_reached", delivered: 2 });
});

test("a scheduled broadcast counts on the budgets of who saved it and of the organization", async () => {
  const { cohort, template } = await draft(825, 3);
  const { key, id: keyId } = await createBudgetedKey(messagesADay(2));
  const input = {
    name: "Later",
    cohort_id: cohort.id,
    template_id: template.id,
    variable_mapping: { "1": "name" },
    scheduled_at: new Date(app.now().getTime() + hour).toISOString(),
  };
  const saved = await request(["POST", "/v1/broadcasts", input], { key });
  expect(saved.status).toBe(201);
  const ofPerson = (await app.call(broadcasts.create_broadcast, { ...input, name: "Ours" })).data;
  await app.advanceTime(hour + 1_000);
  expect(await stateOf(saved.body.data.id)).toMatchObject({ paused_reason: "budget_reached", delivered: 2 });
  expect((await useOf(keyId))?.messages.day.used).toBe(2);
  expect(await stateOf(ofPerson.id)).toMatchObject({ execution_status: "completed", delivered: 3 });
});

test("a broadcast of 600 recipients sends exactly what the organization's budget has left", async () => {
  await using own = await startTestApp({ env: trustedProxyEnv, startsAt });
  const budgets = createBudgetHelpers(own);
  const helpers = createBroadcastHelpers(own);
  const { id: cohort_id } = await helpers.fillCohort(600);
  const sale = { name: "sale", template_data: { body: "The sale begins." } };
  const { id: template_id } = await helpers.approve(sale);
  const { id } = await helpers.create({ name: "Sale", cohort_id, template_id });
  await budgets.setOrganizationBudgets(messagesADay(300));
  await helpers.execute(id);
  await helpers.deliver();
  expect(await helpers.get(id)).toMatchObject({
    execution_status: "paused",
    paused_budget: { holder: "organization", limit: 300, used: 300, needed: 1 },
    stats: { total: 600, delivered: 300 },
  });
  expect((await budgets.useOfOrganization())?.messages.day.used).toBe(300);
  await budgets.setOrganizationBudgets(null);
  await own.call(broadcasts.resume_broadcast, { id });
  await helpers.deliver();
  expect(await helpers.get(id)).toMatchObject({
    execution_status: "completed",
    stats: { total: 600, delivered: 600 },
  });
});
