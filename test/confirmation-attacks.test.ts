/**
 * What a program with a key of the mode `confirm` tries to pass for an answer of its user. Each case counts
 * the messages at the simulated channel: none arrives. A client says itself that it has asked its user, so
 * the mode `approve` is what holds a program back.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { plans } from "../tools/plans.ts";
import { useTestApp } from "./support/app.ts";
import { createApprovalHelpers, type RulesInput } from "./support/approvals.ts";
import { connectManual } from "./support/confirmations.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, request } = createApprovalHelpers(app);
const { countAtChannel } = createPlanHelpers(app);

const call = { name: "send_message", arguments: { to: "+14157201001", body: "Attack" } };
let before = 0;

beforeAll(async () => {
  before = await countAtChannel();
});

afterEach(async () => {
  expect(await countAtChannel()).toBe(before);
});

async function connect(rules: RulesInput = { mode: "confirm" }) {
  const { key, id } = await createKey(rules);
  return { key, id, client: await connectManual(app, key) };
}

const refusal = (reason: string) => ({
  isError: true,
  text: expect.stringMatching(new RegExp(`confirmation_invalid \\(403\\).*${reason}`)),
});

async function latestPlan() {
  const { data } = await app.call(plans.list_plans, { per_page: 1 });
  return data[0] ?? expect.fail("there is no plan");
}

test("forges the state", async () => {
  const { client } = await connect();
  const state = await client.ask(call);
  const { id } = await latestPlan();
  for (const forged of [`${id}:e30`, `${id}:a.b.c`, `${state.slice(0, -4)}AAAA`]) {
    expect(await client.accept(call, forged)).toEqual(refusal("was not made here"));
  }
  expect(await client.accept(call, "nothing")).toMatchObject({ isError: true });
});

test("uses the state of another credential", async () => {
  const [one, other] = [await connect(), await connect()];
  const state = await one.client.ask(call);
  expect(await other.client.accept(call, state)).toEqual(refusal("another credential"));
});

test("confirms the plan of another credential", async () => {
  const [one, other] = [await connect(), await connect()];
  const [, ours] = [await one.client.ask(call), await other.client.ask(call)];
  const [theirs] = (await app.call(plans.list_plans, { per_page: 2 })).data.slice(1);
  const state = ours.slice(ours.indexOf(":"));
  expect(await one.client.accept(call, `${theirs?.id}${state}`)).toEqual(refusal("belongs to another call"));
});

test("uses the state for a call with other arguments, and for another tool", async () => {
  const { client } = await connect();
  const state = await client.ask(call);
  const others = [
    { ...call, arguments: { ...call.arguments, to: "+14157201002" } },
    { name: "create_contact", arguments: { phone_number: "+14157201002" } },
  ];
  for (const other of others) {
    expect(await client.accept(other, state)).toEqual(refusal("belongs to another call"));
  }
});

test("gives a contact a name that imitates lines of the question", async () => {
  const { client } = await connect();
  const to = "+14157201003";
  await openPhone(app, to).write("hi", { name: 'Ann" from us.\nRecipients: 0.\u2028Price: 0 USD' });
  const { inputRequests } = (await client.request({ ...call, arguments: { to, body: "Attack" } })) as {
    inputRequests?: { confirm: { params: { message: string } } };
  };
  const lines = inputRequests?.confirm.params.message.split(/[\n\u2028]/) ?? [];
  expect(lines[0]).toBe(
    'An assistant wants to: Send a message to "Ann\\" from us.\\nRecipients: 0. Price: 0 USD" from +14155550100.',
  );
  expect(lines[1]).toBe('Input: {"type":"text","to":"+14157201003","text":{"body":"Attack"}}');
  expect(lines[2]).toBe("Recipients: 1.");
});

test("uses a state twice", async () => {
  const { client } = await connect();
  const state = await client.ask(call);
  expect(await client.accept(call, state)).toMatchObject({ isError: false });
  // The one that was confirmed.
  before += 1;
  expect(await client.accept(call, state)).toEqual(refusal("was used"));
});

test("uses a state that the user has declined or cancelled", async () => {
  const { client } = await connect();
  for (const action of ["decline", "cancel"]) {
    const state = await client.ask(call);
    await client.request({ ...call, inputResponses: { confirm: { action } }, requestState: state });
    expect(await client.accept(call, state)).toEqual(refusal("was used"));
  }
});

test("uses an older state than the last one", async () => {
  const { client } = await connect();
  const state = await client.ask(call);
  const { id } = await latestPlan();
  await client.ask({ name: "run_plan", arguments: { id } });
  expect(await client.accept(call, state)).toEqual(refusal("another question replaced it"));
});

test("uses a state that has expired", async () => {
  const { client } = await connect();
  const state = await client.ask(call);
  await app.advanceTime(3_600_000);
  expect(await client.accept(call, state)).toEqual(refusal("has expired"));
});

test("amends the plan after its user was asked", async () => {
  const { client, key } = await connect();
  const state = await client.ask(call);
  const { id } = await latestPlan();
  const input = { text: { body: "Worse" } };
  expect((await request(["PUT", `/v1/plans/${id}`, { input }], { key })).status).toBe(200);
  expect(await client.accept(call, state)).toEqual(refusal("belongs to another call"));
});

test("confirms over REST, with a state that a client got", async () => {
  const { client, key } = await connect();
  const state = await client.ask(call);
  const { id } = await latestPlan();
  const asked = await request(["POST", `/v1/plans/${id}/confirmation`, { call: "a" }], { key });
  expect(asked).toMatchObject({ status: 403, body: { error: { code: "confirmation_invalid" } } });
  const json = { state: state.slice(id.length + 1), call: "a", answer: "accept" };
  expect(await request(["POST", `/v1/plans/${id}/confirm`, json], { key })).toMatchObject({
    status: 403,
    body: { error: { code: "confirmation_invalid" } },
  });
});

test("confirms what a person has to release since its user was asked", async () => {
  const { client, id } = await connect();
  const state = await client.ask(call);
  await app.call(apiKeys.set_api_key_rules, { id, rules: { mode: "approve" } });
  expect(await client.accept(call, state)).toMatchObject({
    isError: true,
    text: expect.stringContaining("approval_required"),
  });
});

test("asks for the confirmation of a plan that a person has to release", async () => {
  const { client, key } = await connect({ mode: "approve" });
  expect(await client.request(call)).not.toHaveProperty("requestState");
  const { id } = await latestPlan();
  const headers = { "x-tidings-tool": "send_message" };
  const json = { call: "a" };
  const answer = await app.fetch(`/v1/plans/${id}/confirmation`, { method: "POST", key, headers, json });
  expect(await answer.json()).toMatchObject({ data: { state: null, plan: { confirmable: false } } });
});

test("answers twice at once: the call runs once", async () => {
  const { client } = await connect();
  const state = await client.ask(call);
  const answers = await Promise.all([1, 2, 3].map(() => client.accept(call, state)));
  expect(answers.filter(({ isError }) => !isError)).toHaveLength(1);
  before += 1;
});
