/** The record of acts of calls that rules hold back, and of decisions about plans. */
import { expect, test } from "vitest";
import { activity } from "../tools/activity.ts";
import { contacts } from "../tools/contacts.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { plans } from "../tools/plans.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { expectFailure } from "./support/expect-failure.ts";

const app = useTestApp();
const { createKey, decide, request, send, signPerson } = createApprovalHelpers(app);

async function list(filter: InputOf<typeof activity.list_activity>) {
  return (await app.call(activity.list_activity, filter, { key: ownerKey })).data;
}

let numbers = 0;

/** A plan of a message that waits for a person, with the key that asked for it. */
async function holdMessage() {
  numbers += 1;
  const asker = await createKey({ mode: "approve" });
  const { status, body } = await send(`+1415555${4100 + numbers}`, "Your refund is on its way.", {
    key: asker.key,
    idempotencyKey: `held ${numbers}`,
  });
  expect(status).toBe(202);
  const { data: plan } = await app.call(plans.get_plan, { id: body.data.plan.id });
  return { asker, plan };
}

test("a call that a rule holds back is recorded once, with its plan", async () => {
  const { asker, plan } = await holdMessage();
  const held = { key: asker.key, idempotencyKey: `held ${numbers}` };
  await send(`+1415555${4100 + numbers}`, "Your refund is on its way.", held);
  expect(await list({ by: asker.id })).toMatchObject([
    {
      operation: "send_message",
      outcome: "waiting",
      status: 202,
      error_code: "approval_required",
      ids: expect.arrayContaining([plan.id]),
    },
  ]);
});

test.each(["approve", "decline"] as const)(
  "%s with a wrong hash is recorded as refused alone",
  async (step) => {
    const { plan } = await holdMessage();
    const { id, token } = await signPerson();
    const wrong = await decide(step, { id: plan.id, hash: "wrong" }, token);
    expect(wrong).toMatchObject({
      status: 409,
      body: {
        error: {
          code: "plan_changed",
          message: expect.stringContaining("the hash that was sent is not its present one"),
          plan: { id: plan.id, hash: plan.hash },
        },
      },
    });
    const operation = `${step}_plan`;
    expect(await list({ by: id, operation })).toMatchObject([{ outcome: "refused", status: 409 }]);
    const decided = await decide(step, plan, token);
    expect(decided.status).toBe(200);
    expect(await list({ by: id, operation })).toMatchObject([
      { outcome: "done", status: 200 },
      { outcome: "refused", status: 409 },
    ]);
  },
);

test("the run of a plan that was released for a time is recorded as the release, with what it sent", async () => {
  const { plan } = await holdMessage();
  const { id, token } = await signPerson();
  const run_at = new Date(app.now().getTime() + 3_600_000).toISOString();
  const released = await request(["POST", `/v1/plans/${plan.id}/approve`, { hash: plan.hash, run_at }], {
    key: token,
  });
  expect(released.status).toBe(200);
  await app.advanceTime(3_600_000);
  await app.runDueJobs();
  const acts = await list({ by: id, operation: "approve_plan" });
  expect(acts).toMatchObject([
    { outcome: "done", ids: expect.arrayContaining([plan.id]), arguments: { id: plan.id } },
    { outcome: "done", ids: expect.arrayContaining([plan.id]) },
  ]);
  const message_id = acts[0]?.ids.find((one) => one.startsWith("msg_")) ?? "";
  const { data } = await app.call(activity.explain_message, { id: message_id }, { key: ownerKey });
  expect(data).toMatchObject({
    call: { id: acts[0]?.id, operation: "approve_plan", by: { id } },
    reasons: { plan: { id: plan.id } },
  });
});

test("a run that found a change is recorded as refused alone, and the next one as done", async () => {
  const number = "+14155554199";
  const { data: contact } = await app.call(contacts.create_contact, { phone_number: number });
  const input = { id: contact.id, name: "Ada" };
  const { data: plan } = await app.call(plans.plan_call, { operation: "update_contact", input });
  await app.advanceTime(1_000);
  await app.call(contacts.update_contact, { id: contact.id, name: "Ada Lovelace" });
  const run = (version?: number) => app.call(plans.run_plan, { id: plan.id, version });
  expect(await expectFailure(run())).toMatchObject({ code: "plan_changed" });
  await run(2);
  expect(await list({ operation: "run_plan" })).toMatchObject([
    { outcome: "done", status: 200 },
    { outcome: "refused", status: 409 },
  ]);
});
