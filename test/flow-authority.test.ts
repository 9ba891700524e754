/**
 * Authority of flows: who saves or enables one needs the scope of what it does, and it acts
 * within its creator's role.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import type { InputOf, Scope } from "../tools/contract/index.ts";
import { flows } from "../tools/flows/index.ts";
import { users } from "../tools/users.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createFlowHelpers, type NewNode, say, textsOf } from "./support/flows.ts";
import { openPhone } from "./support/simulator.ts";
import { createUserKey, createUserWithRole, signIn, trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { create, runsOf } = createFlowHelpers(app);
const hour = 3_600_000;

type NewFlow = InputOf<typeof flows.create_flow>;
const tag: NewNode = { id: "tag", node_type: "add_tag", action_config: { tag: "lead" } };
const call: NewNode = {
  id: "call",
  node_type: "http_request",
  action_config: { url: "https://example.com/", secret_headers: { Authorization: "Bearer hush-123" } },
};
const base = { name: "Flow", end_action_type: "none", trigger_type: "keyword" } as const;
const exact = (trigger_keyword: string) => ({ ...base, trigger_keyword, trigger_match: "exact" }) as const;

/** A key with these scopes. */
async function createKey(...scopes: Scope[]) {
  const { data } = await app.call(apiKeys.create_api_key, { name: "key", scopes });
  return { key: data.secret_key, id: data.id };
}

const expectScope = async (result: Promise<unknown>, required_scope: Scope) => {
  expect(await expectFailure(result)).toMatchObject({ status: 403, error: { required_scope } });
};

describe("a schedule with a cohort", () => {
  const at = () => new Date(app.now().getTime() + hour).toISOString();
  let cohort_id: string;
  let writer: string;
  let sender: string;
  beforeAll(async () => {
    const { id } = await createBroadcastHelpers(app).fillCohort(2);
    cohort_id = id;
    writer = (await createKey("inbox:write", "inbox:read", "broadcasts:read")).key;
    sender = (await createKey("inbox:write", "broadcasts:send")).key;
  });
  const input = (nodes: NewNode[]): NewFlow => ({
    ...base,
    trigger_type: "schedule",
    trigger_schedule_at: at(),
    settings: { cohort_id },
    nodes,
  });

  test.each<[string, NewNode[]]>([
    ["send_message", [say("Hi")]],
    [
      "send_template",
      [{ id: "a", node_type: "send_template", action_config: { name: "a_b", language: "en" } }],
    ],
    ["ask", [{ id: "a", node_type: "ask", action_config: { text: "How old?" } }]],
  ])("needs broadcasts:send to be saved with %s", async (_, nodes) => {
    await expectScope(app.call(flows.create_flow, input(nodes), { key: writer }), "broadcasts:send");
    const { data } = await app.call(flows.create_flow, input(nodes), { key: sender });
    await app.call(flows.delete_flow, { id: data.id });
  });

  test("needs it too where another flow sends, and where a change adds the node or the cohort", async () => {
    const { id: flow_id } = await create([say("Hi")], exact("other"));
    const start: NewNode = { id: "start", node_type: "start_flow", action_config: { flow_id } };
    await expectScope(app.call(flows.create_flow, input([start]), { key: writer }), "broadcasts:send");
    const wait: NewNode = { id: "wait", node_type: "wait", action_config: { duration: "1h" } };
    const { data: quiet } = await app.call(flows.create_flow, input([wait]), { key: writer });
    const change = { id: quiet.id, nodes: [say("Hi")] };
    await expectScope(app.call(flows.update_flow, change, { key: writer }), "broadcasts:send");
    const { data: open } = await app.call(
      flows.create_flow,
      { ...input([say("Hi")]), settings: {} },
      { key: writer },
    );
    const widen = { id: open.id, settings: { cohort_id } };
    await expectScope(app.call(flows.update_flow, widen, { key: writer }), "broadcasts:send");
  });

  test("can't be enabled without it, and can be disabled", async () => {
    const { data } = await app.call(flows.create_flow, input([say("Hi")]), { key: sender });
    const toggle = () => app.call(flows.toggle_flow, { id: data.id }, { key: writer });
    expect((await toggle()).data.is_enabled).toBe(false);
    await expectScope(toggle(), "broadcasts:send");
    const enable = { id: data.id, is_enabled: true };
    await expectScope(app.call(flows.update_flow, enable, { key: writer }), "broadcasts:send");
    expect((await app.call(flows.get_flow, { id: data.id })).data.is_enabled).toBe(false);
  });
});

describe("a flow with secrets", () => {
  test.each<[string, Partial<InputOf<typeof flows.update_flow>>]>([
    ["its keyword", { trigger_keyword: "a", trigger_match: "contains" }],
    ["its event", { trigger_type: "event", trigger_event_type: "message.received" }],
    ["its inbox", { inbox_id: null }],
    ["its end action", { end_action_type: "resolve" }],
  ])("can't have %s changed without tokens:create", async (_, change) => {
    const { key } = await createKey("inbox:write", "inbox:read", "contacts:manage");
    const { id } = await create([call], exact("secret"));
    await expectScope(app.call(flows.update_flow, { id, ...change }, { key }), "tokens:create");
    const { data } = await app.call(flows.update_flow, { id, name: "Renamed", is_enabled: false }, { key });
    expect(data).toMatchObject({ name: "Renamed", is_enabled: false, trigger_keyword: "secret" });
  });

  test("can't be started by a flow that was saved without tokens:create", async () => {
    const { key } = await createKey("inbox:write", "inbox:read");
    const { id: flow_id } = await create([call], exact("started"));
    const start: NewNode = { id: "start", node_type: "start_flow", action_config: { flow_id } };
    const input = { ...exact("starter"), nodes: [start] };
    await expectScope(app.call(flows.create_flow, input, { key }), "tokens:create");
    const { id: harmless } = await create([say("Hi")], exact("harmless"));
    const allowed = { ...start, action_config: { flow_id: harmless } };
    await app.call(flows.create_flow, { ...exact("starter"), nodes: [allowed] }, { key });
    // The flow that is started gets the call later.
    await app.call(flows.update_flow, { id: harmless, nodes: [call] });
    const { conversation_id } = await openPhone(app, "+14155570401").write("starter");
    await app.advanceTime(1_000);
    const [run] = await runsOf(conversation_id);
    expect(run).toMatchObject({ status: "failed", reason: "flow_not_startable" });
  });
});

test("an event of contacts needs contacts:read", async () => {
  const { key } = await createKey("inbox:write");
  const input = (trigger_event_type: string): NewFlow => {
    return { ...base, trigger_type: "event", trigger_event_type, nodes: [say("Hi")] };
  };
  await expectScope(app.call(flows.create_flow, input("contact.created"), { key }), "contacts:read");
  const { data } = await app.call(flows.create_flow, input("conversation.closed"), { key });
  await app.call(flows.delete_flow, { id: data.id });
});

describe("a flow that a key has saved", () => {
  /** An administrator, with a key of these scopes, and a flow that it saved. */
  async function createByKey(input: NewFlow, ...scopes: Scope[]) {
    const admin = await createUserWithRole(app, "admin");
    const { access_token } = await signIn(app, admin.email);
    const key = await createUserKey(app, scopes, access_token);
    const { data } = await app.call(flows.create_flow, input, { key });
    return { admin, key, flow: data };
  }
  let numbers = 0;
  async function write(text: string) {
    numbers += 1;
    const number = `+1415557050${numbers}`;
    const phone = openPhone(app, number);
    const { conversation_id } = await phone.write(text);
    await app.advanceTime(1_000);
    const [run] = await runsOf(conversation_id);
    return { run, number, conversation_id };
  }
  const isEnabled = async (id: string) => (await app.call(flows.get_flow, { id })).data.is_enabled;

  test("goes on when the key has been deleted", async () => {
    const input = { ...exact("kept"), nodes: [tag] };
    const { flow, key } = await createByKey(
      input,
      "inbox:write",
      "contacts:manage",
      "tokens:create",
      "tokens:read",
    );
    expect(flow.needs_review).toBe(false);
    const { data: keys } = await app.call(apiKeys.list_api_keys, {}, { key });
    const own = keys.find(({ name, prefix }) => name === "a user's" && key.startsWith(prefix));
    await app.call(apiKeys.delete_api_key, { id: own?.id ?? "" });
    expect((await write("kept")).run).toMatchObject({ status: "completed", reason: null });
  });

  test("is switched off with an event when its creator loses a scope that it needs", async () => {
    const waiting = [
      { id: "wait", node_type: "wait", action_config: { duration: "1h" } },
      { ...tag, parent_node_id: "wait" },
    ] satisfies NewNode[];
    const input = { ...exact("lost"), nodes: waiting };
    const { flow, admin } = await createByKey(input, "inbox:write", "contacts:manage", "inbox:read");
    const { run, conversation_id } = await write("lost");
    expect(run).toMatchObject({ status: "waiting" });
    const { meta: before } = await app.call(webhooks.list_events, {});
    await app.call(users.update_user, { id: admin.id, role: "supervisor" });
    await app.runDueJobs();
    expect(await isEnabled(flow.id)).toBe(true);
    await app.call(users.update_user, { id: admin.id, role: "agent" });
    await app.runDueJobs();
    expect(await isEnabled(flow.id)).toBe(false);
    expect((await runsOf(conversation_id))[0]).toMatchObject({
      status: "cancelled",
      reason: "authority_lost",
    });
    const { data } = await app.call(webhooks.list_events, { after: before.cursor, types: "flow.disabled" });
    expect(data).toMatchObject([
      {
        type: "flow.disabled",
        data: { flow_id: flow.id, name: "Flow", missing_scopes: ["contacts:manage"] },
      },
    ]);
    // Who enables it, has the scopes, and the flow acts for that user from then on.
    await app.call(flows.toggle_flow, { id: flow.id });
    await app.runDueJobs();
    expect(await isEnabled(flow.id)).toBe(true);
  });

  test("is switched off when its creator is deactivated", async () => {
    const { flow, admin } = await createByKey({ ...exact("gone"), nodes: [say("Hi")] }, "inbox:write");
    await app.call(users.update_user, { id: admin.id, is_active: false });
    await app.runDueJobs();
    expect(await isEnabled(flow.id)).toBe(false);
  });

  test("does nothing between the change of the role and its end", async () => {
    const input = { ...exact("now"), nodes: [tag] };
    const { flow, admin } = await createByKey(input, "inbox:write", "contacts:manage");
    // An earlier version changes the role, and tells no flow.
    await app.server.database.queries
      .updateTable("users")
      .set({ role: "agent" })
      .where("id", "=", admin.id)
      .execute();
    const { run, number } = await write("now");
    expect(run).toBeUndefined();
    expect(await isEnabled(flow.id)).toBe(false);
    const { data } = await app.call(contacts.list_contacts, { search: number });
    expect(data[0]?.tags).toEqual([]);
  });
});

test("a flow of an earlier version goes on, marked needs_review, until it is saved", async () => {
  const { id } = await create([say("Old")], exact("old"));
  await app.server.database.queries
    .updateTable("flows")
    .set({ scopes: null, creator_id: null })
    .where("id", "=", id)
    .execute();
  expect((await app.call(flows.get_flow, { id })).data.needs_review).toBe(true);
  const phone = openPhone(app, "+14155570601");
  await phone.write("old");
  await app.advanceTime(1_000);
  expect(textsOf(await phone.listMessages())).toEqual(["Old"]);
  const renamed = await app.call(flows.update_flow, { id, name: "Renamed" });
  expect(renamed.data.needs_review).toBe(true);
  const saved = await app.call(flows.update_flow, { id, nodes: [say("New")] });
  expect(saved.data.needs_review).toBe(false);
});
