/**
 * What a key with rules of single kinds tries: many by a schedule, new persons by a file, a longer day for
 * its budget, and what its rules do not allow by the hand of a person.
 */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { rules } from "../tools/rules.ts";
import { uploads } from "../tools/uploads.ts";
import { useTestApp } from "./support/app.ts";
import type { RulesInput } from "./support/approvals.ts";
import { createBudgetHelpers, messagesADay } from "./support/budgets.ts";
import { say } from "./support/flows.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, decide, request, send, signPerson } = createBudgetHelpers(app);
const { countAtChannel, draft, plan, read } = createPlanHelpers(app);

const hour = 3_600_000;
const refused = { status: 403, body: { error: { code: "not_allowed_by_rules" } } };

/** A key that also changes the organization, which only a person can make. */
async function createSettingKey(rulesOfKey: RulesInput) {
  const scopes = ["tokens:create", "inbox:write", "contacts:write"];
  const { token } = await signPerson("owner");
  const made = ["POST", "/v1/developer-access/api-keys", { name: "Settings", scopes }] as const;
  const { id, secret_key } = (await request(made, { key: token })).body.data;
  await app.call(apiKeys.set_api_key_rules, { id, rules: rulesOfKey });
  return { key: secret_key };
}

/** Fires a flow of a key for a cohort of three contacts. Returns how many of them it starts for. */
async function fireForCohort(area: number, rulesOfKey: RulesInput): Promise<number> {
  const { cohort, numbers } = await draft(area, 3);
  const { key } = await createKey(rulesOfKey);
  const flow = {
    name: "For all",
    end_action_type: "none",
    trigger_type: "schedule",
    trigger_schedule_at: new Date(app.now().getTime() + hour).toISOString(),
    settings: { cohort_id: cohort.id },
    nodes: [say("An offer")],
    is_enabled: true,
  };
  const saved = await request(["POST", "/v1/automation/flows", flow], { key });
  expect(saved.status).toBe(201);
  await app.advanceTime(hour + 60_000);
  const { data } = await app.call(conversations.list_conversations, { per_page: 100 });
  return data.filter(({ phone_number: to }) => to !== null && numbers.includes(to)).length;
}

test.each([
  { area: 820, approve: { recipients_above: 2 } },
  { area: 825, approve: { broadcasts: true } },
  { area: 826, approve: { amount_above: 100 } },
])(
  "a scheduled flow of a key with $approve does not start for a cohort of more",
  async ({ area, approve }) => {
    const before = await countAtChannel();
    expect(await fireForCohort(area, { approve })).toBe(0);
    expect(await countAtChannel()).toBe(before);
  },
);

test("a scheduled flow of a key that may write to one country starts, and each message is checked", async () => {
  expect(await fireForCohort(827, { approve: { recipients_above: 3 }, allow: { countries: ["US"] } })).toBe(
    3,
  );
});

test("a key that may send one template triggers no flow of a person with other texts", async () => {
  const { data: flow } = await app.call(flows.create_flow, {
    name: "Of a person",
    end_action_type: "none",
    trigger_type: "keyword",
    trigger_keyword: "of a person",
    nodes: [say("Another text")],
    is_enabled: true,
  });
  const { conversation_id } = await openPhone(app, "+14155558291").write("Hello");
  const { key } = await createKey({ allow: { templates: ["order_ready"] } });
  const before = await countAtChannel();
  const path = `/v1/automation/flows/${flow.id}/trigger`;
  const parked = await request(["POST", path, { conversation_id }], { key });
  expect(parked).toMatchObject({
    status: 202,
    body: { data: { plan: { why: ["what it sends is not known in advance"] } } },
  });
  expect(await countAtChannel()).toBe(before);
  const free = await createKey({ allow: { operations: ["trigger_flow"] } });
  expect((await request(["POST", path, { conversation_id }], free)).status).toBe(200);
  expect(await countAtChannel()).toBe(before + 1);
});

test("a cohort of a file creates contacts, which waits for a person", async () => {
  const { key } = await createKey({ approve: { new_contacts: true } });
  const file = {
    content_base64: Buffer.from("phone_number\n+14155558301").toString("base64"),
    file_name: "a.csv",
  };
  const { data: upload } = await app.call(uploads.upload_file, file);
  const list = { name: "List", type: "csv", query: {} };
  for (const source of [{ upload_id: upload.id }, { csv_url: "https://example.com/a.csv" }]) {
    expect((await request(["POST", "/v1/cohorts", { ...list, ...source }], { key })).status).toBe(202);
  }
});

test("a key with a budget begins no new day by another time zone", async () => {
  const { key } = await createSettingKey({ budgets: { ...messagesADay(1), beyond: "refuse" } });
  expect((await send("+14155558302", "One", { key })).status).toBe(201);
  const change = ["PUT", "/v1/organization", { time_zone: "Pacific/Kiritimati" }] as const;
  expect(await request(change, { key })).toMatchObject(refused);
  expect((await send("+14155558303", "Two", { key })).status).toBe(403);
});

test("a key that is held back outside of the business hours does not change them", async () => {
  const { key } = await createSettingKey({ approve: { outside_hours: true } });
  const change = ["PUT", "/v1/organization", { business_hours: null }] as const;
  expect(await request(change, { key })).toMatchObject(refused);
});

test("what rules do not allow, no person releases: also a plan, an amended one, and after a change", async () => {
  const { id, cohort, people } = await draft(821, 2);
  const other = await draft(822, 2);
  const { key } = await createKey({ mode: "approve", allow: { cohorts: [cohort.id] } });
  const { token } = await signPerson("owner");
  const before = await countAtChannel();
  const release = async (plan_id: string) => decide("approve", await read(plan_id), token);

  const made = await plan({ operation: "execute_broadcast", input: { id: other.id } }, key);
  await request(["POST", `/v1/plans/${made.id}/run`], { key });
  expect(await release(made.id)).toMatchObject(refused);

  const held = await request(["POST", `/v1/broadcasts/${id}/execute`, {}], { key });
  await request(["PUT", `/v1/plans/${held.body.data.plan.id}`, { input: { id: other.id } }], { key });
  expect(await release(held.body.data.plan.id)).toMatchObject(refused);

  const vip = { attribute: "tags", operator: "has_any", value: ["vip"] };
  const { key: picky } = await createKey({ mode: "approve", allow: { when: vip } });
  const [person] = people;
  await app.call(contacts.tag_contact, { id: person?.id ?? "", add: ["vip"] });
  const message = await send(person?.phone_number ?? "", "Dear VIP", { key: picky });
  expect(message.status).toBe(202);
  await app.call(contacts.tag_contact, { id: person?.id ?? "", remove: ["vip"] });
  expect(await release(message.body.data.plan.id)).toMatchObject(refused);
  expect(await countAtChannel()).toBe(before);
  await app.call(contacts.tag_contact, { id: person?.id ?? "", add: ["vip"] });
  expect((await release(message.body.data.plan.id)).status).toBe(200);
  expect(await countAtChannel()).toBe(before + 1);
});

test("a person with a limit does not release a schedule, whose recipients nobody knows yet", async () => {
  const { cohort, template } = await draft(823, 2);
  await app.call(rules.set_rules, { release_limits: { admin: { recipients: 1 } } });
  const { key } = await createKey({ mode: "approve" });
  const later = {
    name: "Later",
    cohort_id: cohort.id,
    template_id: template.id,
    variable_mapping: { "1": "name" },
    scheduled_at: new Date(app.now().getTime() + hour).toISOString(),
  };
  const held = await request(["POST", "/v1/broadcasts", later], { key });
  const shown = await read(held.body.data.plan.id);
  expect(shown).toMatchObject({
    summary: `Create the broadcast Later, which begins at ${later.scheduled_at}`,
    warnings: [expect.stringContaining("Now that would be 2 people, for ")],
  });
  const [admin, owner] = [await signPerson("admin"), await signPerson("owner")];
  expect(await decide("approve", shown, admin.token)).toMatchObject({
    status: 403,
    body: { error: { code: "release_limit_reached" } },
  });
  expect((await decide("approve", shown, owner.token)).status).toBe(200);
});
