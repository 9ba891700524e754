/** Plans of what sends again or starts something: retry and resume of broadcasts, and triggers of flows. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { billing } from "../tools/billing.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { flows } from "../tools/flows/index.ts";
import { useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { say } from "./support/flows.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, signPerson, decide, request } = createApprovalHelpers(app);
const { deliver, draft, read, textsAt } = createPlanHelpers(app);

const costsTooMuch = { status: 202, body: { data: { plan: { why: ["it costs more than 100"] } } } };

const countsAt = async (numbers: readonly string[]) => {
  await deliver();
  return (await Promise.all(numbers.map(textsAt))).map(({ length }) => length);
};

const createFlow = async (name: string, text: string) => {
  const nodes = [say(text)];
  const trigger = { trigger_type: "keyword", trigger_keyword: "start it" } as const;
  return (await app.call(flows.create_flow, { name, end_action_type: "none", ...trigger, nodes })).data;
};

/** A broadcast that a cancel has stopped before it sent anything. */
async function cancelled(area: number) {
  const made = await draft(area, 3);
  await app.call(broadcasts.execute_broadcast, { id: made.id });
  await app.call(broadcasts.cancel_broadcast, { id: made.id });
  return made;
}

test("a retry waits for a person, is shown with its recipients, and sends once", async () => {
  const { id, numbers } = await cancelled(741);
  const { key } = await createKey({ mode: "approve" });
  const retry = () =>
    request(["POST", `/v1/broadcasts/${id}/retry`, { scope: "pending" }], { key, idempotencyKey: "retry" });
  const parked = await retry();
  expect(parked).toMatchObject({
    status: 202,
    body: { data: { plan: { summary: "Retry the broadcast Offer 741" } } },
  });
  expect(await countsAt(numbers)).toEqual([0, 0, 0]);
  const shown = await read(parked.body.data.plan.id);
  expect(shown).toMatchObject({ recipient_count: 3, price: { currency: "USD" } });
  expect(shown.samples[0]?.text).toBe("Hello Ann, we have an offer.");
  expect((await app.call(broadcasts.get_broadcast, { id })).data.execution_status).toBe("cancelled");
  const { token } = await signPerson();
  const answers = await Promise.all([1, 2].map(() => decide("approve", shown, token)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(await countsAt(numbers)).toEqual([1, 1, 1]);
  expect(await retry()).toMatchObject({ status: 200, body: { data: { id, retried: 3 } } });
  expect(await countsAt(numbers)).toEqual([1, 1, 1]);
});

test("a broadcast is resumed by its plan", async () => {
  const { id, numbers } = await draft(742, 2);
  await app.call(broadcasts.execute_broadcast, { id });
  await app.call(broadcasts.pause_broadcast, { id });
  const { key } = await createKey({ mode: "approve" });
  const { status, body } = await request(["POST", `/v1/broadcasts/${id}/resume`], { key });
  expect(status).toBe(202);
  expect(await countsAt(numbers)).toEqual([0, 0]);
  const shown = await read(body.data.plan.id);
  expect(shown).toMatchObject({ summary: "Resume the broadcast Offer 742", recipient_count: 2 });
  const { token } = await signPerson();
  expect((await decide("approve", shown, token)).status).toBe(200);
  expect(await countsAt(numbers)).toEqual([1, 1]);
});

test("a key of the mode plan retries with a plan", async () => {
  const { id, numbers } = await cancelled(743);
  const { key } = await createKey({ mode: "plan" });
  const direct = await request(["POST", `/v1/broadcasts/${id}/retry`, { scope: "pending" }], { key });
  expect(direct).toMatchObject({ status: 409, body: { error: { code: "plan_required" } } });
  const call = { operation: "retry_broadcast", input: { id, scope: "pending" } };
  const planned = await request(["POST", "/v1/plans", call], { key });
  expect(planned.status).toBe(201);
  expect(await countsAt(numbers)).toEqual([0, 0, 0]);
  expect((await request(["POST", `/v1/plans/${planned.body.data.id}/run`], { key })).status).toBe(200);
  expect(await countsAt(numbers)).toEqual([1, 1, 1]);
});

test("a retry that would reach others than those shown does nothing", async () => {
  const { id, people, numbers } = await cancelled(744);
  const { key } = await createKey({ mode: "approve" });
  const { body } = await request(["POST", `/v1/broadcasts/${id}/retry`, { scope: "pending" }], { key });
  const shown = await read(body.data.plan.id);
  // As if the plan had been made when one of them was not yet cancelled.
  await app.server.database.queries
    .deleteFrom("plan_targets")
    .where("plan_id", "=", shown.id)
    .where("contact_id", "=", people[0]?.id ?? "")
    .execute();
  const { token } = await signPerson();
  expect(await decide("approve", shown, token)).toMatchObject({
    status: 409,
    body: { error: { code: "plan_changed" } },
  });
  expect(await countsAt(numbers)).toEqual([0, 0, 0]);
});

test("a trigger of a flow waits for a person, and runs the flow once", async () => {
  const number = "+14157451001";
  const { conversation_id } = await openPhone(app, number).write("Hello");
  const { id } = await createFlow("Greeting", "Hello there");
  const { key } = await createKey({ mode: "approve" });
  const trigger = () =>
    request(["POST", `/v1/automation/flows/${id}/trigger`, { conversation_id }], {
      key,
      idempotencyKey: "trigger",
    });
  const parked = await trigger();
  expect(parked).toMatchObject({
    status: 202,
    body: { data: { plan: { summary: "Run the flow Greeting" } } },
  });
  await app.runDueJobs();
  expect(await textsAt(number)).toEqual([]);
  const shown = await read(parked.body.data.plan.id);
  expect(shown).toMatchObject({ recipient_count: 1, price: null, warnings: ["price_unknown"] });
  const { token } = await signPerson();
  expect((await decide("approve", shown, token)).status).toBe(200);
  expect((await decide("approve", shown, token)).status).toBe(200);
  await app.runDueJobs();
  await deliver();
  expect(await textsAt(number)).toEqual(["Hello there"]);
  expect(await trigger()).toMatchObject({ status: 200, body: { data: { status: "triggered" } } });
});

test("a flow that was changed since it was shown is not run", async () => {
  const number = "+14157451002";
  const { conversation_id } = await openPhone(app, number).write("Hello");
  const { id } = await createFlow("Changed", "Before");
  const { key } = await createKey({ mode: "approve" });
  const { body } = await request(["POST", `/v1/automation/flows/${id}/trigger`, { conversation_id }], {
    key,
  });
  const shown = await read(body.data.plan.id);
  await app.call(flows.update_flow, { id, nodes: [say("After")] });
  const { token } = await signPerson();
  expect(await decide("approve", shown, token)).toMatchObject({
    status: 409,
    body: { error: { code: "plan_changed" } },
  });
  await app.runDueJobs();
  expect(await textsAt(number)).toEqual([]);
});

test("what a trigger costs is not known, so a limit of the price asks for a person", async () => {
  const { conversation_id } = await openPhone(app, "+14157451003").write("Hello");
  const { id } = await createFlow("Costs", "Hi");
  const { key } = await createKey({ approve: { amount_above: 100 } });
  const call = ["POST", `/v1/automation/flows/${id}/trigger`, { conversation_id }] as const;
  expect(await request(call, { key })).toMatchObject(costsTooMuch);
});

test("a limit of the price asks for a person before an add-on begins, which charges what is used", async () => {
  const { token } = await signPerson("owner");
  const wanted = { name: "Billing", scopes: ["tokens:create"] };
  const made = await request(["POST", "/v1/developer-access/api-keys", wanted], { key: token });
  const { id, secret_key: key } = made.body.data;
  await app.call(apiKeys.set_api_key_rules, { id, rules: { approve: { amount_above: 100 } } });
  const terms = { billing_unit: "per_session", cost_per_unit: 0.01 };
  const call = ["POST", "/v1/billing/addons/chatbot/subscribe", terms] as const;
  const parked = await request(call, { key });
  expect(parked).toMatchObject(costsTooMuch);
  await expect(app.call(billing.get_chatbot_addon, {})).rejects.toMatchObject({ status: 404 });
  expect((await decide("approve", await read(parked.body.data.plan.id), token)).status).toBe(200);
  expect((await app.call(billing.get_chatbot_addon, {})).data.status).toBe("trialing");
});
