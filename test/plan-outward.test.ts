/** Plans of calls to third parties: planning makes no call, and a run makes one, also after a crash. */
import { beforeEach, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { fail } from "../tools/errors.ts";
import { organization } from "../tools/organization.ts";
import { plans } from "../tools/plans.ts";
import { templates } from "../tools/templates/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { createOrders } from "./support/orders.ts";
import { createShop } from "./support/payments.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { createReplaceableAuthority, createTemplateHelpers } from "./support/templates.ts";

const minute = 60_000;
const { orders, module } = createOrders();
const authority = createReplaceableAuthority();
const app = useTestApp({
  enabledModules: { ...modules, orders: module },
  replaceAuthority: authority.replaceAuthority,
});
const { plan, read, run } = createPlanHelpers(app);

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

const planOrder = (name: string) => plan({ operation: "create_order", input: { name } });
const createDraft = (name: string) => createTemplateHelpers(app).create({ name });
const planSubmission = (id: string) => plan({ operation: "submit_template", input: { id } });
const runByKey = (id: string, idempotencyKey: string) =>
  app.call(plans.run_plan, { id }, { idempotencyKey }).then(({ data }) => data);

/** The runs that are in progress have been cut off: their process is dead, and its lease has passed. */
async function passLeases(): Promise<void> {
  await app.server.database.queries
    .updateTable("plans")
    .set({ running_until: new Date(app.now().getTime() - 1).toISOString() })
    .where("running_until", "is not", null)
    .execute();
}

test("planning makes no call, and the run makes one", async () => {
  const made = await planOrder("a");
  expect(made).toMatchObject({
    status: "ready",
    summary: "Order a",
    price: { amount: 5, currency: "USD" },
    recipient_count: 0,
    error: null,
  });
  expect(orders.countCalls("a")).toBe(0);
  const first = await run(made.id);
  expect(first).toMatchObject({
    plan: { status: "run", error: null },
    result: { data: { id: "order a", by: "First key" } },
  });
  expect(await run(made.id)).toEqual(first);
  expect(orders.countCalls("a")).toBe(1);
  expect(await read(made.id)).toMatchObject({ status: "run", ended_at: app.now().toISOString() });
});

test("only what would succeed is planned, and planning changes nothing", async () => {
  expect(await expectFailure(planOrder(""))).toMatchObject({ code: "inbox_not_found" });
  const { id } = await createDraft("rehearsed");
  const before = (await app.call(templates.get_template, { id })).data;
  const made = await planSubmission(id);
  expect(made.summary).toBe("Submit the template rehearsed (en) for review");
  expect((await app.call(templates.get_template, { id })).data).toEqual(before);
  expect(submissions).toBe(0);
  expect(await run(made.id)).toMatchObject({ result: { data: { id, status: "pending" } } });
  expect(submissions).toBe(1);
  expect(await expectFailure(planSubmission(id))).toMatchObject({ code: "template_not_draft" });
});

test("a run while the plan runs is rejected, and gets the response afterwards", async () => {
  const { id } = await planOrder("b");
  const release = orders.hold();
  const first = await meanwhile(run(id), async () => {
    await expect.poll(() => orders.countCalls("b")).toBe(1);
    expect(await read(id)).toMatchObject({ status: "running", ended_at: null });
    const listed = (await app.call(plans.list_plans, { status: "running" })).data;
    expect(listed.map((one) => one.id)).toEqual([id]);
    const twin = await app.fetch(`/v1/plans/${id}/run`, { method: "POST" });
    expect({ status: twin.status, after: twin.headers.get("retry-after") }).toEqual({
      status: 409,
      after: "1",
    });
    expect(await twin.json()).toMatchObject({ error: { code: "plan_running" } });
    for (const step of [plans.withdraw_plan, plans.amend_plan] as const) {
      const changed = app.call(step, { id, input: {} });
      expect(await expectFailure(changed)).toMatchObject({ error: { current_state: "running" } });
    }
    release();
  });
  expect(await run(id)).toEqual(first);
  expect(orders.countCalls("b")).toBe(1);
});

test("a repeated key of a run gets the response of the call", async () => {
  const { id } = await planOrder("c");
  const first = await runByKey(id, "run c");
  expect(first.result).toMatchObject({ data: { id: "order c" } });
  expect(await runByKey(id, "run c")).toEqual(first);
  expect(orders.countCalls("c")).toBe(1);
});

test("a run whose process died after the call is looked up, by the next run", async () => {
  const { id } = await planOrder("d");
  const release = orders.hold();
  const late = await meanwhile(run(id), async () => {
    await expect.poll(() => orders.countCalls("d")).toBe(1);
    await passLeases();
    orders.find = async (name) => ({ id: `found ${name}` });
    expect(await run(id)).toMatchObject({ plan: { status: "run" }, result: { data: { id: "found d" } } });
    release();
  });
  // The process was only slow: its own request gets the response that was stored meanwhile.
  expect(late.result).toMatchObject({ data: { id: "found d", by: "First key" } });
  expect(orders.countCalls("d")).toBe(1);
});

test("a run whose process died before the call has an unknown outcome, and is never called", async () => {
  const { id } = await planOrder("e");
  const release = orders.hold();
  const late = await meanwhile(expectFailure(run(id)), async () => {
    await expect.poll(() => orders.countCalls("e")).toBe(1);
    await passLeases();
    await app.advanceTime(minute);
    expect(await read(id)).toMatchObject({ status: "failed", error: { code: "outcome_unknown" } });
    release();
  });
  expect(late).toMatchObject({ status: 409, code: "outcome_unknown" });
  expect(await expectFailure(run(id))).toMatchObject({ code: "outcome_unknown" });
  expect(orders.countCalls("e")).toBe(1);
});

test("a job ends a run whose process died, if no request runs the plan again", async () => {
  const { id } = await planOrder("f");
  const release = orders.hold();
  await meanwhile(run(id), async () => {
    await expect.poll(() => orders.countCalls("f")).toBe(1);
    await passLeases();
    orders.find = async (name) => ({ id: `order ${name}` });
    await app.advanceTime(minute);
    expect(await read(id)).toMatchObject({ status: "run" });
    release();
  });
  expect(orders.countCalls("f")).toBe(1);
});

test("what the third party refuses for good ends the plan", async () => {
  const { id } = await planOrder("g");
  orders.call = async () => {
    throw fail("media_not_sendable");
  };
  expect(await expectFailure(runByKey(id, "run g"))).toMatchObject({ code: "media_not_sendable" });
  orders.reset();
  expect(await expectFailure(runByKey(id, "run g"))).toMatchObject({ code: "media_not_sendable" });
  expect(await expectFailure(run(id))).toMatchObject({ code: "media_not_sendable" });
  expect(await read(id)).toMatchObject({ status: "failed", error: { code: "media_not_sendable" } });
  const failed = (await app.call(plans.list_plans, { status: "failed" })).data;
  expect(failed.map((one) => one.id)).toContain(id);
  expect(orders.countCalls("g")).toBe(1);
});

test("a plan can run again if the third party was away", async () => {
  const { id } = await planOrder("h");
  orders.call = async () => {
    throw fail("unavailable", { reason: "the processor is down." });
  };
  expect(await expectFailure(run(id))).toMatchObject({ status: 503 });
  expect(await read(id)).toMatchObject({ status: "ready", error: { code: "unavailable" } });
  orders.reset();
  expect(await run(id)).toMatchObject({ plan: { status: "run", error: null } });
  expect(orders.countCalls("h")).toBe(2);
});

test("an unexpected error leaves the outcome unknown", async () => {
  const { id } = await planOrder("i");
  orders.call = async () => {
    throw new Error("The connection broke");
  };
  expect(await expectFailure(run(id))).toMatchObject({ status: 500 });
  orders.reset();
  expect(await expectFailure(run(id))).toMatchObject({ code: "outcome_unknown" });
  expect(orders.countCalls("i")).toBe(1);
});

test("a plan whose price is another now does not run, and its new version does", async () => {
  const { id } = await planOrder("j");
  orders.price = 6_000_000;
  expect(await expectFailure(run(id))).toMatchObject({
    code: "plan_changed",
    error: { plan: { version: 2, price: { amount: 6 } } },
  });
  expect(orders.countCalls("j")).toBe(0);
  orders.price = 5_000_000;
  expect(await expectFailure(run(id, 2))).toMatchObject({ error: { plan: { version: 3 } } });
  expect(await expectFailure(run(id))).toMatchObject({ error: { plan: { version: 3 } } });
  expect(await expectFailure(run(id, 2))).toMatchObject({ error: { plan: { version: 3 } } });
  expect(await run(id, 3)).toMatchObject({ plan: { status: "run", version: 3 } });
});

test("a template that was changed meanwhile is not submitted", async () => {
  const { id } = await createDraft("changed");
  const made = await planSubmission(id);
  await app.advanceTime(1_000);
  await app.call(templates.update_template, { id, template_data: { body: "Another." } });
  expect(await expectFailure(run(made.id))).toMatchObject({ code: "plan_changed" });
  expect(submissions).toBe(0);
  await app.advanceTime(1_000);
  await app.call(templates.submit_template, { id });
  expect(await expectFailure(run(made.id, 2))).toMatchObject({ code: "template_not_draft" });
  expect(submissions).toBe(1);
});

test("a payment order in another currency is not created", async () => {
  const { key, order } = await createShop(app);
  const made = await plan({ operation: "create_payment_order", input: { amount: 40 } }, key);
  expect(made).toMatchObject({
    summary: "Create a payment order of 40 USD",
    price: { amount: 40, currency: "USD" },
  });
  const start = (version?: number) => app.call(plans.run_plan, { id: made.id, version }, { key });
  await app.call(organization.update_organization, { currency: "EUR" }, { key });
  expect(await expectFailure(start())).toMatchObject({
    code: "plan_changed",
    error: { plan: { price: { amount: 40, currency: "EUR" } } },
  });
  const { data } = await start(2);
  expect(data.result).toMatchObject({ data: { amount: 40, currency: "EUR" } });
  const created = await app.server.database.queries.selectFrom("payment_orders").selectAll().execute();
  expect(created).toHaveLength(1);
  await order();
});

test("the intent is sealed, and gone with the end of the run", async () => {
  const { id } = await planOrder("a secret name");
  const release = orders.hold();
  const stored = () =>
    app.server.database.queries
      .selectFrom("plans")
      .selectAll()
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  await meanwhile(run(id), async () => {
    await expect.poll(() => orders.countCalls("a secret name")).toBe(1);
    const row = await stored();
    expect(row.intent).not.toBeNull();
    expect(JSON.stringify({ ...row, summary: "" })).not.toContain("a secret name");
    release();
  });
  expect(await stored()).toMatchObject({ intent: null, run_owner: null, running_until: null });
});
