/** Plans, rules and budgets of a filled service. */
import type { TestApp } from "../../test/support/app.ts";
import { createApprovalHelpers } from "../../test/support/approvals.ts";
import { createTemplateHelpers } from "../../test/support/templates.ts";
import { broadcasts } from "../../tools/broadcasts/index.ts";
import { plans } from "../../tools/plans.ts";
import { rules } from "../../tools/rules.ts";
import { ada, grace, mary } from "./fill.ts";

const minute = 60_000;

/** A plan that has run, one that may still run, and one of a broadcast. */
export async function addPlans(app: TestApp): Promise<void> {
  const plan = async (operation: string, input: Record<string, unknown>) =>
    (await app.call(plans.plan_call, { operation, input })).data.id;
  const message = { to: grace, type: "text", text: { body: "Your parcel leaves tomorrow." } };
  await app.call(plans.run_plan, { id: await plan("send_message", message) });
  await plan("send_message", { ...message, to: ada });
  const { data: drafts } = await app.call(broadcasts.list_broadcasts, { status: "draft" });
  await plan("execute_broadcast", { id: drafts[0]?.id });
  const { create } = createTemplateHelpers(app);
  const planSubmission = async (name: string) => plan("submit_template", { id: (await create({ name })).id });
  await app.call(plans.run_plan, { id: await planSubmission("submitted_by_a_plan") });
  await planSubmission("planned");
  await app.advanceTime(minute);
}

/**
 * A key whose calls wait for a person: one is released, one is released for a later time, one is declined,
 * and one still waits.
 */
export async function addRules(app: TestApp): Promise<void> {
  const { createKey, decide, send: sendWithKey, signPerson } = createApprovalHelpers(app);
  const { key } = await createKey({ mode: "auto", approve: { recipients_above: 0, delete: true } });
  const { token } = await signPerson();
  const park = async (to: string, body: string) => {
    const { id } = (await sendWithKey(to, body, { key, idempotencyKey: body })).body.data.plan;
    return (await app.call(plans.get_plan, { id })).data;
  };
  await decide("approve", await park(grace, "Your refund is on its way."), token);
  await decide("decline", await park(ada, "Your account is closed."), token);
  await park(mary, "Our answer follows tomorrow.");
  const { id, hash } = await park(grace, "Good evening.");
  const json = { hash, run_at: new Date(app.now().getTime() + 3 * 60 * minute).toISOString() };
  await app.fetch(`/v1/plans/${id}/approve`, { method: "POST", key: token, json });
  const released = { mcp: { mode: "plan" }, approver_is_never_asker: true } as const;
  await app.call(rules.set_rules, released, { key: token });
  await addBudgets(app, token);
  await app.advanceTime(minute);
}

/** Budgets of the organization and of a key, whose second message waits for a person. */
async function addBudgets(app: TestApp, token: string): Promise<void> {
  const { createKey, send: sendWithKey } = createApprovalHelpers(app);
  await app.call(
    rules.set_rules,
    { budgets: { messages: { month: 10_000 }, spend: { day: 100 } } },
    { key: token },
  );
  const { key } = await createKey({ budgets: { messages: { day: 1 }, new_contacts: { month: 5 } } });
  await sendWithKey(grace, "Your order is ready.", { key, idempotencyKey: "ready" });
  await sendWithKey(grace, "We are open until six.", { key, idempotencyKey: "open" });
}
