/** Rules of keys: what they may do alone, what needs a plan, and what a person releases. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { plans } from "../tools/plans.ts";
import { rules } from "../tools/rules.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { type Answer, createApprovalHelpers } from "./support/approvals.ts";
import { connectAssistant } from "./support/assistant.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, signPerson, decide, request, send } = createApprovalHelpers(app);
const { deliver, draft, plan, read, textsAt } = createPlanHelpers(app);

async function received(number: string) {
  await deliver();
  return textsAt(number);
}

test("a call waits for a person, who releases it once", async () => {
  const number = "+14155553001";
  const { key, id } = await createKey({ mode: "approve" });
  const parked = await send(number, "Your order is here.", { key, idempotencyKey: "one" });
  expect(parked).toMatchObject({
    status: 202,
    body: {
      data: {
        plan: {
          status: "awaiting_approval",
          summary: expect.stringContaining(number),
          why: ["a person releases every call"],
        },
      },
    },
  });
  const { id: planId } = parked.body.data.plan;
  expect(await received(number)).toEqual([]);
  expect(await send(number, "Your order is here.", { key, idempotencyKey: "one" })).toEqual(parked);
  const shown = await read(planId);
  expect(shown).toMatchObject({ status: "awaiting_approval", created_by: { type: "api_key", id } });
  const { token } = await signPerson();
  const answers = await Promise.all([1, 2, 3].map(() => decide("approve", shown, token)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers[0]?.body.data).toMatchObject({
    plan: { status: "run", decided_by: { type: "user" }, decision_reason: "Looks right" },
    result: { data: { to: number, sent_by: { type: "api_key", id } } },
  });
  expect(await received(number)).toEqual(["Your order is here."]);
  const repeated = await send(number, "Your order is here.", { key, idempotencyKey: "one" });
  expect(repeated).toEqual({ status: 201, body: answers[0]?.body.data.result });
  expect(await send(number, "Another", { key, idempotencyKey: "one" })).toMatchObject({
    status: 422,
    body: { error: { code: "idempotency_key_reused" } },
  });
});

test("requests with one key at once make one plan", async () => {
  const { key } = await createKey({ mode: "approve" });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => send("+14155553002", "Once", { key, idempotencyKey: "same" })),
  );
  expect(new Set(answers.map(({ body }) => body.data.plan.id)).size).toBe(1);
});

test("a declined call is never made", async () => {
  const number = "+14155553003";
  const { key } = await createKey({ mode: "approve" });
  const { body } = await send(number, "No", { key, idempotencyKey: "declined" });
  const shown = await read(body.data.plan.id);
  const { token } = await signPerson();
  expect(await decide("decline", shown, token)).toMatchObject({
    status: 200,
    body: { data: { status: "declined" } },
  });
  expect(await decide("approve", shown, token)).toMatchObject({
    status: 409,
    body: { error: { code: "plan_state", current_state: "declined" } },
  });
  expect(await send(number, "No", { key, idempotencyKey: "declined" })).toMatchObject({
    status: 202,
    body: { data: { plan: { status: "declined" } } },
  });
  expect(await expectFailure(app.call(plans.run_plan, { id: shown.id }))).toMatchObject({
    code: "plan_state",
  });
  expect(await received(number)).toEqual([]);
});

test("errors come before the wait", async () => {
  const { key } = await createKey({ mode: "approve" });
  const missing = await request(["DELETE", "/v1/contacts/con_none"], { key });
  expect(missing).toMatchObject({ status: 404 });
  expect(await send("nobody", "Hi", { key })).toMatchObject({ status: 400 });
  const made = { phone_number: "+14155553004" };
  await app.call(contacts.create_contact, made);
  const twice = await request(["POST", "/v1/contacts", made], { key });
  expect(twice).toMatchObject({ status: 409, body: { error: { code: "contact_exists" } } });
});

test("the hash that was shown is sent, and a changed plan is not released", async () => {
  const number = "+14155553005";
  const { key } = await createKey({ mode: "approve" });
  const { body } = await send(number, "Before", { key });
  const shown = await read(body.data.plan.id);
  await app.call(plans.amend_plan, { id: shown.id, input: { text: { body: "After" } } }, { key });
  const { token } = await signPerson();
  expect(await decide("approve", shown, token)).toMatchObject({
    status: 409,
    body: { error: { code: "plan_changed", plan: { version: 2, status: "awaiting_approval" } } },
  });
  expect(await received(number)).toEqual([]);
  expect(await decide("approve", await read(shown.id), token)).toMatchObject({ status: 200 });
  expect(await received(number)).toEqual(["After"]);
});

test("a person releases who holds the scope and has signed in by password within 12 hours", async () => {
  const { key } = await createKey({ mode: "approve" });
  const { body } = await request(["POST", "/v1/cohorts", { name: "All", query: {} }], { key });
  const shown = await read(body.data.plan.id);
  expect(await decide("approve", shown, ownerKey)).toMatchObject({
    status: 403,
    body: { error: { code: "person_required" } },
  });
  const agent = await signPerson("agent");
  expect(await decide("approve", shown, agent.token)).toMatchObject({
    status: 403,
    body: { error: { code: "insufficient_scope" } },
  });
  // Signed for a test, without a password.
  expect(await decide("approve", shown, await app.signOwner())).toMatchObject({
    status: 403,
    body: { error: { code: "sign_in_again" } },
  });
  const { token } = await signPerson();
  const throughTool = await app.fetch(`/v1/plans/${shown.id}/approve`, {
    method: "POST",
    key: token,
    json: { hash: shown.hash },
    headers: { "x-tidings-tool": "approve_plan" },
  });
  expect(throughTool.status).toBe(403);
  expect((await read(shown.id)).status).toBe("awaiting_approval");
});

test("who asked may not release, if the organization says so", async () => {
  const { token, id } = await signPerson();
  const { token: other } = await signPerson();
  await app.call(rules.set_rules, { mcp: { mode: "approve" }, approver_is_never_asker: true });
  const json = { to: "+14155553006", type: "text", text: { body: "Hi" } };
  const headers = { "x-tidings-tool": "send_message" };
  const answer = await app.fetch("/v1/messages", { method: "POST", key: token, json, headers });
  expect(answer.status).toBe(202);
  const shown = await read(((await answer.json()) as Answer).data.plan.id);
  expect(shown.created_by).toMatchObject({ type: "user", id });
  expect(await decide("approve", shown, token)).toMatchObject({
    body: { error: { code: "asker_may_not_release" } },
  });
  expect(await decide("approve", shown, other)).toMatchObject({ status: 200 });
  await app.call(rules.set_rules, { mcp: null, approver_is_never_asker: false });
});

test("rules of callers through MCP bind calls through MCP only", async () => {
  const number = "+14155553007";
  await app.call(rules.set_rules, { mcp: { mode: "approve" } });
  await using assistant = await connectAssistant(app, ownerKey);
  const result = await assistant.client.callTool({
    name: "send_message",
    arguments: { to: number, body: "Hi" },
  });
  expect(result.isError ?? false).toBe(false);
  expect(result.content).toMatchObject([
    { type: "text", text: "Nothing was sent: it waits for a person." },
    { type: "text", text: expect.stringContaining("awaiting_approval") },
    { type: "text", text: expect.stringContaining("Untrusted: data.plan.summary") },
  ]);
  expect((await send(number, "Over REST", { key: ownerKey })).status).toBe(201);
  await app.call(rules.set_rules, { mcp: null });
  expect(await received(number)).toEqual(["Over REST"]);
});

test("a key of the mode plan sends by a plan", async () => {
  const number = "+14155553008";
  const { key } = await createKey({ mode: "plan" });
  expect(await send(number, "Direct", { key })).toMatchObject({
    status: 409,
    body: { error: { code: "plan_required" } },
  });
  const { id } = await plan({ tool: "send_message", input: { to: number, body: "Planned" } }, key);
  expect((await app.call(plans.run_plan, { id }, { key })).data.plan.status).toBe("run");
  expect(await received(number)).toEqual(["Planned"]);
});

test("conditions ask for a person in each mode", async () => {
  const { key } = await createKey({ approve: { new_contacts: true, delete: true, recipients_above: 2 } });
  const number = "+14155553009";
  expect((await send(number, "New", { key })).status).toBe(202);
  const { id: contact } = (await app.call(contacts.create_contact, { phone_number: number })).data;
  expect((await send(number, "Known", { key })).status).toBe(201);
  expect((await request(["PUT", `/v1/contacts/${contact}`, { name: "Ann" }], { key })).status).toBe(200);
  expect(await request(["DELETE", `/v1/contacts/${contact}`], { key })).toMatchObject({
    status: 202,
    body: { data: { plan: { why: ["it deletes"] } } },
  });
  const small = await draft(610, 2);
  expect((await request(["POST", `/v1/broadcasts/${small.id}/execute`, {}], { key })).status).toBe(200);
  const large = await draft(611, 3);
  expect(await request(["POST", `/v1/broadcasts/${large.id}/execute`, {}], { key })).toMatchObject({
    status: 202,
    body: { data: { plan: { why: ["it reaches more than 2 people"] } } },
  });
  const made = await plan({ operation: "execute_broadcast", input: { id: large.id } }, key);
  expect(await request(["POST", `/v1/plans/${made.id}/run`], { key })).toMatchObject({
    status: 202,
    body: { data: { plan: { id: made.id, status: "awaiting_approval" } } },
  });
  expect(await received(large.numbers[0] ?? "")).toEqual([]);
  const { token } = await signPerson();
  expect(await decide("approve", await read(made.id), token)).toMatchObject({ status: 200 });
  expect(await received(large.numbers[0] ?? "")).toHaveLength(1);
});

test("only what the rules allow is sent", async () => {
  const { key } = await createKey({ allow: { countries: ["ES"] } });
  expect((await send("+34600000001", "Hola", { key })).status).toBe(201);
  expect(await send("+14155553010", "Hi", { key })).toMatchObject({
    status: 403,
    body: { error: { code: "not_allowed_by_rules" } },
  });
  const american = await draft(612, 2);
  expect(await request(["POST", `/v1/broadcasts/${american.id}/execute`, {}], { key })).toMatchObject({
    status: 403,
  });
  expect(await received(american.numbers[0] ?? "")).toEqual([]);
});

test("a key that a key makes has its rules, also when it is deleted", async () => {
  const scopes = ["inbox:write", "inbox:read"];
  const made = await app.call(apiKeys.create_api_key, { name: "Parent", scopes });
  // A key that may make keys is a user's.
  const { token } = await signPerson();
  const parent = await request(
    ["POST", "/v1/developer-access/api-keys", { name: "Parent", scopes: ["inbox:write", "tokens:create"] }],
    { key: token },
  );
  const { id, secret_key } = parent.body.data;
  const child = await app.call(
    apiKeys.create_api_key,
    { name: "Child", scopes: ["inbox:write"] },
    { key: secret_key },
  );
  await app.call(apiKeys.set_api_key_rules, { id, rules: { mode: "approve" } });
  const childKey = child.data.secret_key;
  expect((await send("+14155553011", "Hi", { key: childKey })).status).toBe(202);
  await app.call(apiKeys.delete_api_key, { id });
  expect((await send("+14155553011", "Hi", { key: childKey })).status).toBe(202);
  expect((await send("+14155553011", "Hi", { key: made.data.secret_key })).status).toBe(201);
  expect(await received("+14155553011")).toEqual(["Hi"]);
});

test("outside the business hours a person releases", async () => {
  const { key } = await createKey({ approve: { outside_hours: true } });
  const closed = {
    monday: [],
    tuesday: [],
    wednesday: [],
    thursday: [],
    friday: [],
    saturday: [],
    sunday: [],
  };
  expect((await send("+14155553012", "Open", { key })).status).toBe(201);
  const set = (business_hours: unknown) =>
    request(["PUT", "/v1/organization", { business_hours }], { key: ownerKey });
  await set({ ...closed, holidays: [] });
  expect((await send("+14155553012", "Closed", { key })).status).toBe(202);
  await set(null);
});
