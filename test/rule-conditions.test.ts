/** Rules about contacts, broadcasts and exports: conditions on contacts, and what a person does instead. */
import { expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { rules } from "../tools/rules.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { connectAssistant } from "./support/assistant.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { say } from "./support/flows.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, signPerson, decide, request, send } = createApprovalHelpers(app);
const { countAtChannel, deliver, draft, plan, read, textsAt } = createPlanHelpers(app);

const vip = { attribute: "tags", operator: "has_any", value: ["vip"] };
const refused = { status: 403, body: { error: { code: "not_allowed_by_rules" } } };

async function add(phone_number: string, tags: string[]) {
  return (await app.call(contacts.create_contact, { phone_number, tags })).data.id;
}

test("messages reach contacts that meet the conditions of the rules, and no others", async () => {
  const { key } = await createKey({
    allow: { when: { and: [vip, { not: { attribute: "metadata.stage", operator: "eq", value: "lost" } }] } },
  });
  const id = await add("+14155558001", ["vip"]);
  await add("+14155558002", ["other"]);
  expect((await send("+14155558001", "Hi", { key })).status).toBe(201);
  expect(await send("+14155558002", "Hi", { key })).toMatchObject(refused);
  expect(await send("+14155558003", "Hi", { key })).toMatchObject(refused);
  await app.call(contacts.update_contact, { id, metadata: { stage: "Lost" } });
  expect(await send("+14155558001", "Again", { key })).toMatchObject(refused);
});

test("a person who is no contact yet has a number, a country and nothing else", async () => {
  const spain = { attribute: "country", operator: "eq", value: "ES" };
  const { key } = await createKey({ allow: { when: spain } });
  expect((await send("+34600008001", "Hola", { key })).status).toBe(201);
  expect(await send("+14155558004", "Hi", { key })).toMatchObject(refused);
  const silent = { attribute: "last_user_message_at", operator: "not_within_last", value: "7d" };
  const reminding = await createKey({ allow: { when: silent } });
  const { conversation_id } = await openPhone(app, "+14155558005").write("Hello");
  expect(conversation_id).toBeDefined();
  expect(await send("+14155558005", "Still there?", reminding)).toMatchObject(refused);
  await app.advanceTime(8 * 24 * 3_600_000);
  expect((await send("+14155558005", "Still there?", reminding)).status).toBe(201);
});

test("a broadcast is sent if every recipient meets the conditions", async () => {
  const { id, cohort, numbers } = await draft(810, 3);
  const { key } = await createKey({ allow: { when: vip } });
  expect(await request(["POST", `/v1/broadcasts/${id}/execute`, {}], { key })).toMatchObject(refused);
  const made = await plan({ operation: "execute_broadcast", input: { id } }, key);
  expect(await request(["POST", `/v1/plans/${made.id}/run`], { key })).toMatchObject(refused);
  await deliver();
  expect(await textsAt(numbers[0] ?? "")).toEqual([]);
  const { data } = await app.call(cohorts.list_cohort_members, { id: cohort.id });
  for (const contact of data) {
    await app.call(contacts.tag_contact, { id: contact.id, add: ["vip"] });
  }
  expect((await request(["POST", `/v1/broadcasts/${id}/execute`, {}], { key })).status).toBe(200);
  await deliver();
  expect(await textsAt(numbers[0] ?? "")).toHaveLength(1);
});

test("a flow writes to contacts that meet the conditions of the rules of who saved it", async () => {
  const saver = await createKey({ allow: { when: vip } });
  const flow = {
    name: "Members",
    end_action_type: "none",
    trigger_type: "keyword",
    trigger_keyword: "members",
    nodes: [say("Welcome")],
  };
  expect((await request(["POST", "/v1/automation/flows", flow], saver)).status).toBe(201);
  await add("+14155558006", ["vip"]);
  await openPhone(app, "+14155558006").write("members");
  await openPhone(app, "+14155558007").write("members");
  await deliver();
  expect(await textsAt("+14155558006")).toEqual(["Welcome"]);
  expect(await textsAt("+14155558007")).toEqual([]);
});

test("conditions that are not valid are rejected with their place", async () => {
  const { id } = await createKey({});
  const when = { and: [{ attribute: "tagz", operator: "has_any", value: ["vip"] }] };
  const set = app.call(apiKeys.set_api_key_rules, { id, rules: { allow: { when } } });
  expect(await expectFailure(set)).toMatchObject({
    status: 400,
    code: "unknown_attribute",
    error: { param: "rules.allow.when.and[0].attribute", suggestions: ["tags"] },
  });
  const message = { attribute: "conversation.status", operator: "eq", value: "open" };
  const other = app.call(rules.set_rules, { mcp: { allow: { when: message } } });
  expect((await expectFailure(other)).error?.param).toBe("mcp.allow.when.attribute");
});

test("each broadcast waits for a person, whatever its size, and a single message does not", async () => {
  const { key, id } = await createKey({ approve: { broadcasts: true } });
  const small = await draft(811, 1);
  const why = ["it sends a broadcast"];
  expect((await send(small.numbers[0] ?? "", "Hi", { key })).status).toBe(201);
  const parked = await request(["POST", `/v1/broadcasts/${small.id}/execute`, {}], { key });
  expect(parked).toMatchObject({ status: 202, body: { data: { plan: { why } } } });
  const made = await plan({ operation: "execute_broadcast", input: { id: small.id } }, key);
  expect((await request(["POST", `/v1/plans/${made.id}/run`], { key })).status).toBe(202);
  const { cohort, template } = small;
  const scheduled_at = new Date(app.now().getTime() + 3_600_000).toISOString();
  const later = { name: "Later", cohort_id: cohort.id, template_id: template.id, scheduled_at };
  const json = { ...later, variable_mapping: { "1": "name" } };
  expect(await request(["POST", "/v1/broadcasts", json], { key })).toMatchObject({
    status: 202,
    body: { data: { plan: { why } } },
  });
  await app.call(apiKeys.set_api_key_rules, { id, rules: null });
  const saved = await request(["POST", "/v1/broadcasts", json], { key });
  await app.call(apiKeys.set_api_key_rules, { id, rules: { approve: { broadcasts: true } } });
  const before = await countAtChannel();
  await app.advanceTime(3_700_000);
  expect(await countAtChannel()).toBe(before);
  const { data } = await app.call(broadcasts.get_broadcast, { id: saved.body.data.id });
  expect(data).toMatchObject({ execution_status: "failed", failure_reason: "approval_required" });
  const { token } = await signPerson();
  expect((await decide("approve", await read(parked.body.data.plan.id), token)).status).toBe(200);
});

test("an export is left to a person, over REST and as a call through MCP", async () => {
  const { key } = await createKey({ approve: { export: true } }, ["broadcasts:read", "contacts:read"]);
  const { id } = await draft(812, 1);
  const path = `/v1/broadcasts/${id}/recipients.csv`;
  const get = (from: string, as: string, headers: Record<string, string> = {}) =>
    app.fetch(from, { key: as, headers });
  const answer = await get(path, key);
  expect([answer.status, await answer.json()]).toMatchObject([
    409,
    { error: { code: "approval_required", message: expect.stringContaining("it exports many rows") } },
  ]);
  expect((await request(["GET", "/v1/contacts"], { key })).status).toBe(200);
  const { token } = await signPerson();
  expect((await get(path, token)).status).toBe(200);
  expect((await get("/v1/activity.csv", token)).status).toBe(200);
  await app.call(rules.set_rules, { mcp: { approve: { export: true } } });
  const marked = { "x-tidings-tool": "list_activity" };
  expect((await get("/v1/activity.csv", token, marked)).status).toBe(409);
  expect((await get("/v1/activity.csv", token)).status).toBe(200);
  await using assistant = await connectAssistant(app, ownerKey);
  const { isError } = await assistant.client.callTool({ name: "list_contacts", arguments: {} });
  expect(isError ?? false).toBe(false);
  await app.call(rules.set_rules, { mcp: null });
});

test("every route that answers with a file of rows is an export", () => {
  const routes = Object.values(modules).flatMap((module) => module.routes);
  const files = routes.filter(({ about }) => about?.response.body === "text/csv");
  expect(files.map(({ path }) => path)).toEqual(
    routes.filter((route) => route.credential === "any" && route.isExport).map(({ path }) => path),
  );
  expect(files).toHaveLength(2);
});
