/** Calls to third parties that a person has to release: they wait, and are made once after that. */
import { beforeEach, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { fail } from "../tools/errors.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { createOrders } from "./support/orders.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { createReplaceableAuthority, createTemplateHelpers } from "./support/templates.ts";
import { trustedProxyEnv } from "./support/users.ts";

const { orders, module } = createOrders();
const authority = createReplaceableAuthority();
const app = useTestApp({
  enabledModules: { ...modules, orders: module },
  replaceAuthority: authority.replaceAuthority,
  env: trustedProxyEnv,
});
const { createKey, decide, request, signPerson } = createApprovalHelpers(app);
const { read } = createPlanHelpers(app);

let submissions = 0;
beforeEach(() => {
  orders.reset();
  submissions = 0;
  authority.replace({
    submit(...args) {
      submissions += 1;
      return authority.simulated.submit(...args);
    },
  });
});

const order = (name: string, key: string) =>
  request(["POST", "/v1/test-orders", { name }], { key, idempotencyKey: name });

test("a call waits, is made once by its release, and then answers its key", async () => {
  const { key, id } = await createKey({ mode: "approve" });
  const parked = await order("a", key);
  expect(parked).toMatchObject({
    status: 202,
    body: { data: { plan: { status: "awaiting_approval", summary: "Order a" } } },
  });
  expect(await order("a", key)).toEqual(parked);
  expect(orders.countCalls("a")).toBe(0);
  const shown = await read(parked.body.data.plan.id);
  expect(shown).toMatchObject({ price: { amount: 5, currency: "USD" }, created_by: { id } });
  const { token } = await signPerson();
  const release = orders.hold();
  const deciding = Promise.all([1, 2, 3].map(() => decide("approve", shown, token)));
  deciding.catch(() => undefined); // Awaited below.
  await expect.poll(() => orders.countCalls("a")).toBe(1);
  expect(await order("a", key)).toMatchObject({
    status: 202,
    body: { data: { plan: { status: "running" } } },
  });
  release();
  const answers = await deciding;
  const [done, ...others] = answers.filter(({ status }) => status === 200);
  expect(done?.body.data).toMatchObject({
    plan: { status: "run", decided_by: { type: "user" } },
    result: { data: { id: "order a", by: "Assistant" } },
  });
  expect(others.every(({ body }) => JSON.stringify(body) === JSON.stringify(done?.body))).toBe(true);
  const rejected = answers.filter(({ status }) => status !== 200);
  expect(rejected.every(({ body }) => "error" in body && JSON.stringify(body).includes("plan_running"))).toBe(
    true,
  );
  expect(await order("a", key)).toEqual({ status: 201, body: done?.body.data.result });
  expect(orders.countCalls("a")).toBe(1);
});

test("a declined call is never made", async () => {
  const { key } = await createKey({ mode: "approve" });
  const { body } = await order("b", key);
  const shown = await read(body.data.plan.id);
  const { token } = await signPerson();
  expect((await decide("decline", shown, token)).status).toBe(200);
  expect((await decide("approve", shown, token)).status).toBe(409);
  expect(await order("b", key)).toMatchObject({
    status: 202,
    body: { data: { plan: { status: "declined" } } },
  });
  expect(orders.countCalls("b")).toBe(0);
});

test("a template is submitted when a person has released it", async () => {
  const { key } = await createKey({ approve: { configure: true } }, ["templates:read", "templates:create"]);
  const { id } = await createTemplateHelpers(app).create({ name: "parked" });
  const submit = () =>
    request(["POST", `/v1/templates/${id}/submit`], { key, idempotencyKey: "submit parked" });
  const { status, body } = await submit();
  expect({ status, submissions }).toEqual({ status: 202, submissions: 0 });
  const { token } = await signPerson();
  const released = await decide("approve", await read(body.data.plan.id), token);
  expect(released.body.data.result).toMatchObject({ data: { id, status: "pending" } });
  expect(await submit()).toEqual({ status: 200, body: released.body.data.result });
  expect(submissions).toBe(1);
});

test("a call that fails answers its key with the failure", async () => {
  const { key } = await createKey({ mode: "approve" });
  const { body } = await order("c", key);
  const shown = await read(body.data.plan.id);
  orders.call = async () => {
    throw fail("media_not_sendable");
  };
  const { token } = await signPerson();
  const failure = {
    status: fail("media_not_sendable").status,
    body: { error: { code: "media_not_sendable" } },
  };
  expect(await decide("approve", shown, token)).toMatchObject(failure);
  orders.reset();
  expect(await order("c", key)).toMatchObject(failure);
  expect(await decide("approve", shown, token)).toMatchObject(failure);
  expect(orders.countCalls("c")).toBe(1);
});

test("a released call waits again if the third party was away", async () => {
  const { meta } = await app.call(webhooks.list_events, { types: "plan.awaiting" });
  const { key } = await createKey({ mode: "approve" });
  const { body } = await order("d", key);
  const shown = await read(body.data.plan.id);
  orders.call = async () => {
    throw fail("unavailable", { reason: "the processor is down." });
  };
  const { token } = await signPerson();
  expect((await decide("approve", shown, token)).status).toBe(503);
  expect(await read(shown.id)).toMatchObject({
    status: "awaiting_approval",
    decided_by: null,
    error: { code: "unavailable" },
  });
  const run = await request(["POST", `/v1/plans/${shown.id}/run`], { key });
  expect(run.status).toBe(202);
  orders.reset();
  expect((await decide("approve", shown, token)).status).toBe(200);
  const { data: events } = await app.call(webhooks.list_events, {
    after: meta.cursor,
    types: "plan.awaiting",
  });
  expect(events.filter(({ data }) => JSON.stringify(data).includes(shown.id))).toHaveLength(2);
});

test("a call that runs at its time and finds the third party away waits again, and says so once", async () => {
  const { key } = await createKey({ mode: "approve" });
  const { body } = await order("later", key);
  const shown = await read(body.data.plan.id);
  const { meta } = await app.call(webhooks.list_events, { types: "plan.awaiting" });
  orders.call = async () => {
    throw fail("unavailable", { reason: "the processor is down." });
  };
  const { token } = await signPerson();
  const json = { hash: shown.hash, run_at: new Date(app.now().getTime() + 3_600_000).toISOString() };
  expect((await request(["POST", `/v1/plans/${shown.id}/approve`, json], { key: token })).status).toBe(200);
  await app.advanceTime(3_600_000);
  await app.runDueJobs();
  orders.reset();
  expect(await read(shown.id)).toMatchObject({
    status: "awaiting_approval",
    run_at: null,
    decided_by: null,
    error: { code: "unavailable" },
  });
  const { data: events } = await app.call(webhooks.list_events, {
    after: meta.cursor,
    types: "plan.awaiting",
  });
  expect(events.filter(({ data }) => JSON.stringify(data).includes(shown.id))).toHaveLength(1);
});

test("rules about money hold a payment order back, and rules about persons do not", async () => {
  const careful = await createKey({ approve: { amount_above: 4 } });
  expect(await order("e", careful.key)).toMatchObject({
    status: 202,
    body: { data: { plan: { why: ["it costs more than 4"] } } },
  });
  const { key } = await createKey({ approve: { amount_above: 5, recipients_above: 0, new_contacts: true } });
  expect((await order("f", key)).status).toBe(201);
  const planning = await createKey({ mode: "plan" });
  expect(await order("g", planning.key)).toMatchObject({
    status: 409,
    body: { error: { code: "plan_required" } },
  });
  expect(["e", "f", "g"].map(orders.countCalls)).toEqual([0, 1, 0]);
});

test("an event of a release is emitted only if the plan runs", async () => {
  const { meta } = await app.call(webhooks.list_events, { types: "plan.released" });
  const { key } = await createKey({ mode: "approve" });
  const { body } = await order("h", key);
  const { token } = await signPerson();
  orders.price = 7_000_000;
  const changed = await decide("approve", await read(body.data.plan.id), token);
  expect(changed).toMatchObject({ status: 409, body: { error: { code: "plan_changed" } } });
  orders.price = 5_000_000;
  const { data } = await app.call(webhooks.list_events, { after: meta.cursor, types: "plan.released" });
  expect(data).toEqual([]);
  expect(orders.countCalls("h")).toBe(0);
});
