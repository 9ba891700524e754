/** Plans that a person releases for a later time, and calls that wait until a plan is decided. */
import { beforeAll, expect, test } from "vitest";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { plans } from "../tools/plans.ts";
import { users } from "../tools/users.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, signPerson, decide, request, send } = createApprovalHelpers(app);
const { deliver, draft, plan, read, textsAt } = createPlanHelpers(app);

const hour = 3_600_000;
const inHours = (hours: number) => new Date(app.now().getTime() + hours * hour).toISOString();

async function received(number: string) {
  await deliver();
  return textsAt(number);
}

let key = "";
beforeAll(async () => {
  ({ key } = await createKey({ mode: "approve" }));
});

/** A message that waits, as it is shown. */
async function park(number: string, idempotencyKey: string) {
  const { body } = await send(number, "Later", { key, idempotencyKey });
  return read(body.data.plan.id);
}

async function release({ id, hash }: { readonly id: string; readonly hash: string }, run_at: string) {
  const person = await signPerson();
  const json = { hash, run_at, reason: "Tomorrow" };
  const answer = await request(["POST", `/v1/plans/${id}/approve`, json], { key: person.token });
  return { ...answer, person };
}

test("a released plan runs at its time, once, and answers its key", { tags: ["both"] }, async () => {
  const number = "+14157301001";
  const shown = await park(number, "later");
  const run_at = inHours(2);
  const { status, body, person } = await release(shown, run_at);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      data: {
        plan: { status: "released", run_at, decided_by: { id: person.id }, decision_reason: "Tomorrow" },
        result: null,
      },
    },
  });
  const listed = await app.call(plans.list_plans, { status: "released" });
  expect(listed.data.map(({ id }) => id)).toEqual([shown.id]);
  expect(await received(number)).toEqual([]);
  expect((await request(["POST", `/v1/plans/${shown.id}/run`], { key })).body).toMatchObject({
    data: { plan: { status: "released" } },
  });
  expect(await request(["POST", `/v1/plans/${shown.id}/run`], { key: ownerKey })).toMatchObject({
    status: 409,
    body: { error: { code: "plan_state", current_state: "released" } },
  });
  await app.advanceTime(hour);
  expect(await received(number)).toEqual([]);
  await app.advanceTime(hour);
  await app.runDueJobs();
  expect(await received(number)).toEqual(["Later"]);
  expect(await read(shown.id)).toMatchObject({ status: "run", run_at });
  expect(await send(number, "Later", { key, idempotencyKey: "later" })).toMatchObject({
    status: 201,
    body: { data: { to: number } },
  });
});

test("the idempotency key of a call that waits lasts 24 hours, whatever became of its plan", async () => {
  const number = "+14157301009";
  const shown = await park(number, "ends");
  const { token } = await signPerson();
  expect((await decide("decline", shown, token)).status).toBe(200);
  await app.advanceTime(24 * hour);
  expect((await park(number, "ends")).id).toBe(shown.id);
  await app.advanceTime(1);
  const other = await send(number, "Another text", { key, idempotencyKey: "ends" });
  expect(other).toMatchObject({ status: 202, body: { data: { plan: { status: "awaiting_approval" } } } });
  expect(other.body.data.plan.id).not.toBe(shown.id);
});

test("the time is after now and before the plan expires", async () => {
  const shown = await park("+14157301002", "invalid");
  for (const run_at of [inHours(-1), inHours(24), inHours(48)]) {
    expect(await release(shown, run_at)).toMatchObject({
      status: 422,
      body: { error: { code: "run_at_invalid" } },
    });
  }
  expect((await read(shown.id)).status).toBe("awaiting_approval");
});

test("a released plan can be withdrawn, declined and amended before its time", async () => {
  const number = "+14157301003";
  const [withdrawn, declined, amended] = [
    await park(number, "withdrawn"),
    await park(number, "declined"),
    await park(number, "amended"),
  ];
  for (const shown of [withdrawn, declined, amended]) {
    expect((await release(shown, inHours(1))).status).toBe(200);
  }
  expect((await request(["DELETE", `/v1/plans/${withdrawn.id}`], { key })).status).toBe(200);
  const { token } = await signPerson();
  expect((await decide("decline", declined, token)).status).toBe(200);
  await app.call(plans.amend_plan, { id: amended.id, input: { text: { body: "Worse" } } }, { key });
  expect(await read(amended.id)).toMatchObject({
    status: "awaiting_approval",
    run_at: null,
    decided_by: null,
  });
  await app.advanceTime(2 * hour);
  await app.runDueJobs();
  expect(await received(number)).toEqual([]);
  const states = await Promise.all([withdrawn, declined].map(async ({ id }) => (await read(id)).status));
  expect(states).toEqual(["withdrawn", "declined"]);
});

test("conditions are checked at the time: what changed waits for a person again", async () => {
  const { id, people } = await draft(731, 2);
  const { body } = await request(["POST", `/v1/broadcasts/${id}/execute`], { key });
  const shown = await read(body.data.plan.id);
  expect((await release(shown, inHours(1))).status).toBe(200);
  const changes = { variable_mapping: { "1": { value: "everyone" } } };
  await app.call(broadcasts.update_broadcast, { id, ...changes });
  await app.advanceTime(hour);
  await app.runDueJobs();
  expect(people).toHaveLength(2);
  expect(await read(shown.id)).toMatchObject({ status: "awaiting_approval", version: 2, run_at: null });
});

test("a plan for a reply lapses, if the contact writes before the time", async () => {
  const number = "+14157301004";
  await openPhone(app, number).write("Hello");
  const shown = await park(number, "lapses");
  expect((await release(shown, inHours(1))).status).toBe(200);
  await openPhone(app, number).write("Never mind");
  await app.advanceTime(hour);
  await app.runDueJobs();
  expect(await read(shown.id)).toMatchObject({ status: "lapsed" });
  expect(await received(number)).toEqual([]);
});

test("a person who lost the scope, or left, before the time releases nothing", async () => {
  const number = "+14157301005";
  const json = { name: "All", query: {} };
  const parked = await request(["POST", "/v1/cohorts", json], { key });
  const cohort = await read(parked.body.data.plan.id);
  const message = await park(number, "left");
  const lowered = await release(cohort, inHours(1));
  const left = await release(message, inHours(1));
  await app.call(users.update_user, { id: lowered.person.id, role: "agent" });
  await app.call(users.update_user, { id: left.person.id, is_active: false });
  await app.advanceTime(hour);
  await app.runDueJobs();
  expect(await read(cohort.id)).toMatchObject({
    status: "awaiting_approval",
    decided_by: null,
    error: { code: "insufficient_scope" },
  });
  expect(await read(message.id)).toMatchObject({
    status: "awaiting_approval",
    error: { code: "releaser_left" },
  });
  expect(await received(number)).toEqual([]);
});

test("a wait ends when a person decides, and at its timeout", async () => {
  const number = "+14157301006";
  const shown = await park(number, "waits");
  const wait = (timeout_seconds: number, id = shown.id) =>
    app.call(plans.wait_for_plan, { id, timeout_seconds }, { key });
  expect((await wait(0)).data).toMatchObject({ status: "awaiting_approval", is_timed_out: true });
  const { token } = await signPerson();
  const [done, decided] = await Promise.all([wait(20), decide("approve", shown, token)]);
  expect(decided.status).toBe(200);
  expect(done.data).toMatchObject({ id: shown.id, status: "run", is_timed_out: false });
  const { id, hash } = await park(number, "waits for its time");
  expect((await release({ id, hash }, inHours(1))).status).toBe(200);
  expect((await wait(20, id)).data).toMatchObject({ status: "released", is_timed_out: false });
  const ready = await plan({ tool: "send_message", input: { to: number, body: "Hi" } }, key);
  expect((await wait(0, ready.id)).data).toMatchObject({ status: "ready", is_timed_out: true });
  const answer = await request(["GET", "/v1/plans/plan_none/wait"], { key });
  expect(answer.status).toBe(404);
});
