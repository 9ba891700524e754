/** Plans: what is shown is what runs, once, and nothing else runs. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import type { Scope } from "../tools/contract/index.ts";
import { messages } from "../tools/messages/index.ts";
import { maxOpenPlans, plans } from "../tools/plans.ts";
import { quickReplies } from "../tools/quick-replies.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const { deliver, draft, plan, planBroadcast, planSend, read, run, textsAt } = createPlanHelpers(app);

async function createKey(scopes: readonly Scope[]): Promise<string> {
  return (await app.call(apiKeys.create_api_key, { name: "narrow", scopes: [...scopes] })).data.secret_key;
}

test("a planned message is shown, sends nothing, and is sent once by its run", async () => {
  const number = "+14155552001";
  const made = await planSend(number, "Your order is here.");
  expect(made).toMatchObject({
    version: 1,
    operation: "send_message",
    status: "ready",
    recipient_count: 1,
    excluded_count: 0,
    is_undoable: false,
    samples: [{ contact_id: null, to: number, text: "Your order is here.", excluded: null }],
    ended_at: null,
  });
  await deliver();
  expect(await textsAt(number)).toEqual([]);
  const first = await run(made.id);
  expect(first).toMatchObject({
    plan: { status: "run" },
    result: { data: { to: number, status: "queued" } },
  });
  expect(await run(made.id)).toEqual(first);
  await deliver();
  expect(await textsAt(number)).toEqual(["Your order is here."]);
});

test("twenty runs at once send one message, and all get its answer", async () => {
  const number = "+14155552002";
  const { id } = await planSend(number, "Once");
  const answers = await Promise.all(Array.from({ length: 20 }, () => run(id)));
  expect(new Set(answers.map(({ result }) => JSON.stringify(result))).size).toBe(1);
  await deliver();
  expect(await textsAt(number)).toEqual(["Once"]);
});

test("the same idempotency key makes one plan, and gets the same answer of a run", async () => {
  const input = { tool: "send_message", input: { to: "+14155552003", body: "Same" } };
  const make = () => app.call(plans.plan_call, input, { idempotencyKey: "plan-once" });
  const [one, two] = [await make(), await make()];
  expect(two).toEqual(one);
  const start = () => app.call(plans.run_plan, { id: one.data.id }, { idempotencyKey: "run-once" });
  expect(await start()).toEqual(await start());
});

test("a plan rejects what its call would reject", async () => {
  const blocked = (await app.call(contacts.create_contact, { phone_number: "+14155552004" })).data;
  await app.call(contacts.update_contact, { id: blocked.id, blocked: true });
  expect(await expectFailure(planSend("+14155552004", "Hi"))).toMatchObject({ code: "contact_blocked" });
  expect(await expectFailure(plan({ tool: "send_message", input: { to: "+14155552005" } }))).toMatchObject({
    status: 400,
    code: "invalid_request",
  });
  expect(await expectFailure(plan({ operation: "delete_contact", input: { id: "con_x" } }))).toMatchObject({
    status: 404,
    code: "contact_not_found",
  });
  expect(await expectFailure(plan({ input: {} }))).toMatchObject({ status: 400 });
  expect(await expectFailure(plan({ tool: "no_such_tool", input: {} }))).toMatchObject({ status: 404 });
});

test("a plan needs the operation's scope, and so do its reading and its run", async () => {
  const key = await createKey(["contacts:read", "contacts:write"]);
  const input = { to: "+14155552006", body: "Hi" };
  expect(await expectFailure(plan({ tool: "send_message", input }, key))).toMatchObject({
    code: "insufficient_scope",
    error: { required_scope: "inbox:write" },
  });
  const { id } = await plan({ tool: "send_message", input });
  for (const operation of [plans.get_plan, plans.run_plan, plans.withdraw_plan] as const) {
    const failure = await expectFailure(app.call(operation, { id }, { key }));
    expect(failure).toMatchObject({ status: 403, code: "insufficient_scope" });
  }
  const amended = app.call(plans.amend_plan, { id, input: {} }, { key });
  expect(await expectFailure(amended)).toMatchObject({ code: "insufficient_scope" });
  expect((await app.call(plans.list_plans, {}, { key })).data).toEqual([]);
  const none = await createKey(["broadcasts:send"]);
  expect(
    await expectFailure(plan({ operation: "execute_broadcast", input: { id: "bc_x" } }, none)),
  ).toMatchObject({
    error: { required_scope: "broadcasts:read" },
  });
});

test("the plans of another organization do not exist", async () => {
  const { id } = await planSend("+14155552007", "Ours");
  const { key } = await createOtherTenant(app);
  for (const operation of [plans.get_plan, plans.run_plan, plans.withdraw_plan] as const) {
    expect(await expectFailure(app.call(operation, { id }, { key }))).toMatchObject({
      code: "plan_not_found",
    });
  }
  const listed = (await app.call(plans.list_plans, {}, { key })).data;
  expect(listed.map(({ operation }) => operation)).toEqual(["create_contact"]);
  expect((await read(id)).status).toBe("ready");
});

test("a withdrawn and an expired plan do not run", async () => {
  const withdrawn = await planSend("+14155552008", "No");
  await app.call(plans.withdraw_plan, { id: withdrawn.id });
  expect(await expectFailure(run(withdrawn.id))).toMatchObject({
    code: "plan_state",
    error: { current_state: "withdrawn" },
  });
  const late = await planSend("+14155552009", "Late");
  await app.advanceTime(24 * 3_600_000 - 1_000);
  const kept = await planSend("+14155552010", "Kept");
  await app.advanceTime(1_000);
  expect(await expectFailure(run(late.id))).toMatchObject({ error: { current_state: "expired" } });
  expect(await read(late.id)).toMatchObject({ status: "expired", ended_at: late.expires_at });
  await app.advanceTime(600_000);
  const { status } = await app.server.database.queries
    .selectFrom("plans")
    .select("status")
    .where("id", "=", late.id)
    .executeTakeFirstOrThrow();
  expect(status).toBe("expired");
  expect((await run(kept.id)).plan.status).toBe("run");
  await deliver();
  expect(await textsAt("+14155552009")).toEqual([]);
});

test("a plan for a reply lapses when the contact writes, or when somebody else answers", async () => {
  const number = "+14155552011";
  const phone = openPhone(app, number);
  await phone.write("Is it open?");
  await app.runDueJobs();
  const first = await planSend(number, "Yes, until 6.");
  await phone.write("Never mind, I found it.");
  await app.runDueJobs();
  expect(await expectFailure(run(first.id))).toMatchObject({ status: 409, code: "plan_lapsed" });
  expect(await read(first.id)).toMatchObject({ status: "lapsed" });
  expect(await expectFailure(run(first.id))).toMatchObject({ error: { current_state: "lapsed" } });
  const second = await planSend(number, "Good!");
  const other = await createKey(["inbox:write"]);
  await app.call(
    messages.send_message,
    { to: number, type: "text", text: { body: "Great." } },
    { key: other },
  );
  expect(await expectFailure(run(second.id))).toMatchObject({ code: "plan_lapsed" });
  const third = await planSend(number, "See you.");
  await app.call(messages.send_message, { to: number, type: "text", text: { body: "Bye." } });
  await run(third.id);
  await deliver();
  expect(await textsAt(number)).toEqual(["Great.", "Bye.", "See you."]);
});

test("an amended plan is a new version with a new hash, and only that runs", async () => {
  const number = "+14155552012";
  const made = await plan({
    operation: "send_message",
    input: { to: number, type: "text", text: { body: "Old" } },
  });
  const { data } = await app.call(plans.amend_plan, { id: made.id, input: { text: { body: "New" } } });
  expect(data).toMatchObject({ id: made.id, version: 2, samples: [{ text: "New" }] });
  expect(data.hash).not.toBe(made.hash);
  await run(made.id);
  await deliver();
  expect(await textsAt(number)).toEqual(["New"]);
  const again = app.call(plans.amend_plan, { id: made.id, input: {} });
  expect(await expectFailure(again)).toMatchObject({ code: "plan_state", error: { current_state: "run" } });
});

test("an unknown field in an amendment, such as an argument of the tool, is rejected", async () => {
  const call = { to: "+14155552013", body: "Old" };
  const made = (await app.call(plans.plan_call, { tool: "send_message", input: call })).data;
  const amended = app.call(plans.amend_plan, { id: made.id, input: { body: "New" } });
  expect(await expectFailure(amended)).toMatchObject({
    status: 400,
    code: "unknown_argument",
    error: { value: "body", known: expect.stringContaining("text") },
  });
  expect((await app.call(plans.get_plan, { id: made.id })).data.version).toBe(1);
});

test("a write without a plan of its own runs only if what it changes is as it was", async () => {
  const { data: reply } = await app.call(quickReplies.create_quick_reply, {
    short_code: "hours",
    content: "9 to 5",
  });
  const made = await plan({ operation: "update_quick_reply", input: { id: reply.id, content: "9 to 6" } });
  await app.advanceTime(1_000);
  await app.call(quickReplies.update_quick_reply, { id: reply.id, content: "8 to 4" });
  expect(await expectFailure(run(made.id))).toMatchObject({
    code: "plan_changed",
    error: { plan: { version: 2 } },
  });
  expect((await run(made.id, 2)).result).toMatchObject({ data: { content: "9 to 6" } });
  const gone = await plan({ operation: "delete_quick_reply", input: { id: reply.id } });
  await app.call(quickReplies.delete_quick_reply, { id: reply.id });
  expect(await expectFailure(run(gone.id))).toMatchObject({ code: "quick_reply_not_found" });
});

test("what can't be frozen is not planned", async () => {
  const notPlanned = ["upload_file", "create_user", "plan_call", "get_contact"];
  for (const operation of notPlanned) {
    expect(await expectFailure(plan({ operation, input: {} }))).toMatchObject({
      status: 422,
      code: "operation_not_planned",
    });
  }
});

test("a key has at most a hundred open plans", async () => {
  const key = await createKey(["contacts:write"]);
  const make = () => plan({ operation: "create_contact", input: { phone_number: "+14155552014" } }, key);
  const made = [];
  for (let count = 0; count < maxOpenPlans; count += 1) {
    made.push(await make());
  }
  expect(await expectFailure(make())).toMatchObject({ code: "too_many_plans" });
  await app.call(plans.withdraw_plan, { id: made[0]?.id ?? "" }, { key });
  expect((await make()).status).toBe("ready");
});

test("secrets in the input are neither shown nor stored in the open", async () => {
  const made = await plan({
    operation: "create_flow",
    input: {
      name: "Call",
      trigger_type: "keyword",
      trigger_keyword: "x",
      end_action_type: "none",
      nodes: [
        {
          id: "call",
          node_type: "http_request",
          action_config: {
            url: "https://example.com",
            headers: { "X-Key": "hidden-value" },
            secret_headers: { Authorization: "Bearer hidden-value" },
          },
        },
      ],
    },
  });
  expect(JSON.stringify(made)).not.toContain("hidden-value");
  const rows = await app.server.database.queries.selectFrom("plans").selectAll().execute();
  expect(JSON.stringify(rows)).not.toContain("hidden-value");
  expect((await run(made.id)).result).toMatchObject({ data: { name: "Call" } });
});

test("an erased contact takes its plans along, and ended plans are kept for 90 days", async () => {
  const number = "+14155552015";
  const { data: contact } = await app.call(contacts.create_contact, {
    phone_number: number,
    name: "Erased Person",
  });
  const ready = await planSend(number, "To the erased");
  const about = await plan({ operation: "update_contact", input: { id: contact.id, name: "Other" } });
  const { id: broadcast_id } = await draft(431, 2, { name: "Kept" });
  const kept = await planBroadcast(broadcast_id);
  const ended = await planSend("+14155552016", "Ended");
  await run(ended.id);
  await app.call(contacts.delete_contact, { id: contact.id });
  await app.runDueJobs();
  for (const { id } of [ready, about]) {
    expect(await expectFailure(read(id))).toMatchObject({ code: "plan_not_found" });
  }
  expect((await read(kept.id)).recipient_count).toBe(2);
  await app.advanceTime(89 * 24 * 3_600_000);
  expect((await read(ended.id)).status).toBe("run");
  await app.advanceTime(2 * 24 * 3_600_000);
  await app.advanceTime(3_600_000);
  expect(await expectFailure(read(ended.id))).toMatchObject({ code: "plan_not_found" });
});
