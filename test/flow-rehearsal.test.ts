/** Rehearsals of flows: they do what a real run does, and store and send nothing. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { chain, createFlowHelpers, type NewNode, say } from "./support/flows.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const { create } = createFlowHelpers(app);

type Rehearsal = InputOf<typeof flows.rehearse_flow>;

const rehearse = async (input: Rehearsal) => (await app.call(flows.rehearse_flow, input)).data;
const pathOf = ({ path }: Awaited<ReturnType<typeof rehearse>>) =>
  path.map(({ node_id, outcome }) => `${node_id} ${outcome}`);
const writtenBy = (side: string, { messages }: Awaited<ReturnType<typeof rehearse>>) =>
  messages.filter(({ from }) => from === side).map(({ text }) => text);

const node = (id: string, node_type: NewNode["node_type"], action_config: object = {}) => ({
  id,
  node_type,
  action_config: { ...action_config },
});
const ask = node("mail", "ask", {
  text: "Your e-mail?",
  save_as: "mail",
  validate: "email",
  retry_text: "An e-mail, please.",
});
const start_at = "2030-01-01T10:00:00Z";

test("a rehearsal answers the path, the messages, the variables and the changes", async () => {
  const answer = await rehearse({
    nodes: chain(
      ask,
      node("wait", "wait", { duration: "2h" }),
      node("tag", "add_tag", { tag: "offer" }),
      say('Thanks, {{contact.name | default: "friend"}}: {{vars.mail}}{{contact.metadata.x}}', "thanks"),
    ),
    end_action_type: "resolve",
    message: "offer",
    contact: { name: "Ada" },
    start_at,
    script: [{ text: "no" }, { text: "ada@example.com", after: "10m" }, { text: "unheard" }],
  });
  const at = (time: string) => `2030-01-01T${time}.000Z`;
  const texts = ["offer", "Your e-mail?", "no", "An e-mail, please.", "ada@example.com"];
  expect(answer).toEqual({
    status: "completed",
    reason: null,
    would_trigger: null,
    is_enabled: null,
    next_run_at: null,
    started_at: at("10:00:00"),
    ended_at: at("12:10:05"),
    path: [
      {
        number: 1,
        node_id: "mail",
        node_type: "ask",
        at: at("10:00:00"),
        outcome: "wait",
        message: 2,
        wait: { for: "reply", until: "2030-01-02T10:00:00.000Z", ended_by: "reply" },
      },
      {
        number: 2,
        node_id: "mail",
        node_type: "ask",
        at: at("10:00:05"),
        outcome: "invalid",
        message: 4,
        wait: { for: "reply", until: "2030-01-02T10:00:05.000Z", ended_by: "reply" },
      },
      {
        number: 3,
        node_id: "mail",
        node_type: "ask",
        at: at("10:10:05"),
        outcome: "reply",
        next: ["wait"],
      },
      {
        number: 4,
        node_id: "wait",
        node_type: "wait",
        at: at("10:10:05"),
        outcome: "wait",
        wait: { for: "time", until: at("12:10:05"), ended_by: "time" },
      },
      {
        number: 5,
        node_id: "wait",
        node_type: "wait",
        at: at("12:10:05"),
        outcome: "next",
        next: ["tag"],
      },
      {
        number: 6,
        node_id: "tag",
        node_type: "add_tag",
        at: at("12:10:05"),
        outcome: "next",
        next: ["thanks"],
        did: ["adds the tag offer to the contact"],
      },
      {
        number: 7,
        node_id: "thanks",
        node_type: "send_message",
        at: at("12:10:05"),
        outcome: "next",
        message: 6,
        missing: ["contact.metadata.x"],
      },
      {
        number: 8,
        node_id: "end_action",
        node_type: "resolve",
        at: at("12:10:05"),
        outcome: "next",
        did: ["sets the status to closed"],
      },
    ],
    messages: [...texts, "Thanks, Ada: ada@example.com"].map((text, index) => ({
      number: index + 1,
      from: index % 2 === 0 && index < 5 ? "customer" : "flow",
      text,
      at: at(["10:00:00", "10:00:00", "10:00:05", "10:00:05", "10:10:05", "12:10:05"][index] ?? ""),
    })),
    variables: { mail: "ada@example.com" },
    changes: { contact: { tags: ["offer"] }, conversation: { status: "closed" } },
    unused_script: [{ text: "unheard" }],
  });
});

test("with its placeholders filled in, a blank message fails as in a real run", async () => {
  const answer = await rehearse({ nodes: [say("{{contact.metadata.x}}", "blank")], message: "hi" });
  expect(answer).toMatchObject({
    status: "failed",
    reason: "flow_message_invalid",
    messages: [{ text: "hi" }],
  });
  expect(answer.path).toMatchObject([{ outcome: "error", error: "flow_message_invalid" }]);
});

test("what a node changes is seen by later conditions and placeholders; a failed node changes nothing", async () => {
  const answer = await rehearse({
    nodes: [
      ...chain(
        node("tag", "add_tag", { tag: "vip" }),
        node("set", "set_attribute", { name: "city", value: "Rome" }),
        node("if", "condition", { query: { attribute: "tags", operator: "has_any", value: ["vip"] } }),
      ),
      {
        ...say("In {{contact.metadata.city}}", "yes"),
        parent_node_id: "if",
        connection_type: "condition_true",
      },
      { ...say("no"), parent_node_id: "if", connection_type: "default" },
    ],
    message: "hi",
    contact: { metadata: { city: "Oslo", age: 4 } },
  });
  expect(writtenBy("flow", answer)).toEqual(["In Rome"]);
  expect(answer.changes).toEqual({ contact: { tags: ["vip"], metadata: { city: "Rome" } } });
});

test("after the end of the script the customer is silent, and waits time out", async () => {
  const nodes = [
    ...chain(ask, say("Done", "done")),
    { ...say("Late", "late"), parent_node_id: "mail", connection_type: "timeout" as const },
  ];
  const silent = await rehearse({ nodes, message: "hi", start_at });
  expect(pathOf(silent)).toEqual(["mail wait", "mail timeout", "late next"]);
  expect(silent.path[0]?.wait).toEqual({
    for: "reply",
    until: "2030-01-02T10:00:00.000Z",
    ended_by: "timeout",
  });
  const { path, unused_script } = await rehearse({
    nodes,
    message: "hi",
    start_at,
    script: [{ after: "23h" }, { text: "a@b.de", after: "2h" }],
  });
  expect(path.map(({ outcome }) => outcome)).toEqual(["wait", "timeout", "next"]);
  expect(unused_script).toEqual([{ text: "a@b.de", after: "2h" }]);
});

test("a message that comes while the run waits for a time is no reply", async () => {
  const answer = await rehearse({
    nodes: chain(node("wait", "wait", { duration: "1h" }), node("hear", "wait_for_reply", { timeout: "1h" })),
    message: "hi",
    start_at,
    script: [{ text: "early", after: "5m" }, { text: "now" }],
  });
  expect(pathOf(answer)).toEqual(["wait wait", "wait next", "hear wait", "hear reply"]);
  expect(answer.messages.map(({ text, at }) => `${at.slice(11, 19)} ${text}`)).toEqual([
    "10:00:00 hi",
    "10:05:00 early",
    "11:00:05 now",
  ]);
});

test("a button is chosen by its id or title; one that was not sent is named with those that were", async () => {
  const buttons = [
    { id: "y", title: "Yes" },
    { id: "n", title: "No" },
  ];
  const nodes: NewNode[] = [
    node("q", "send_message", { interactive: { body: "Sure?", buttons } }),
    { ...say("Good", "good"), parent_node_id: "q", connection_type: "button", connection_value: "y" },
    { ...say("Bad", "bad"), parent_node_id: "q", connection_type: "button", connection_value: "n" },
  ];
  const answer = await rehearse({ nodes, message: "hi", script: [{ button: "yes" }] });
  expect(writtenBy("flow", answer)).toEqual(["Sure?", "Good"]);
  expect(answer.messages[1]).toMatchObject({ type: "interactive", buttons: ["Yes", "No"] });
  const failure = await expectFailure(rehearse({ nodes, message: "hi", script: [{ button: "maybe" }] }));
  expect(failure).toMatchObject({ status: 400, code: "choice_not_sent" });
  expect(failure.message).toContain("Yes (y), No (n)");
});

test("a graph gets the errors that create_flow gives it", async () => {
  const nodes = [say("Hi {{contact.nam}}", "a"), { ...say("x", "a"), parent_node_id: "b" }];
  const fields = { nodes, end_action_type: "assign", end_action_config: { user_id: "usr_none" } } as const;
  const trigger = { name: "Flow", trigger_type: "keyword", trigger_keyword: "x" } as const;
  const created = await expectFailure(app.call(flows.create_flow, { ...fields, ...trigger }));
  const rehearsed = await expectFailure(rehearse(fields));
  expect(rehearsed.error?.details).toHaveLength(4);
  const { request_id: _, ...error } = created.error ?? {};
  expect(rehearsed.error).toMatchObject(error);
});

test("the 24-hour window is that of the simulated clock", async () => {
  const { data } = await app.call(inboxes.list_inboxes, {});
  const [inbox] = data;
  const setWindow = (service_window: "strict" | "advisory") =>
    app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { ...inbox?.settings, service_window } });
  await setWindow("strict");
  const nodes = chain(say("Now", "now"), node("wait", "wait", { duration: "1d" }), say("Later", "later"));
  const late = await rehearse({ nodes, message: "hi" });
  const kept = await rehearse({ nodes, message: "hi", script: [{ text: "still here", after: "2h" }] });
  const unwritten = await rehearse({ nodes });
  await setWindow("advisory");
  expect(late).toMatchObject({ status: "failed", reason: "outside_service_window" });
  expect(writtenBy("flow", late)).toEqual(["Now"]);
  expect(kept).toMatchObject({ status: "completed", reason: null });
  expect(unwritten).toMatchObject({ status: "failed", path: [{ node_id: "now" }] });
});

test("a template that is not approved fails; a loop ends after 100 steps; another flow is not rehearsed", async () => {
  const template = node("t", "send_template", { name: "none", language: "en" });
  expect(await rehearse({ nodes: [template] })).toMatchObject({ reason: "template_not_approved" });
  const loop = chain(node("tag", "add_tag", { tag: "a" }), node("back", "goto", { node_id: "tag" }));
  const looped = await rehearse({ nodes: loop });
  expect(looped).toMatchObject({ status: "failed", reason: "step_limit" });
  expect(looped.path).toHaveLength(100);
  const other = await create([node("w", "wait_for_reply")], { name: "Other", trigger_keyword: "nothing" });
  const start = node("start", "start_flow", { flow_id: other.id });
  const passed = await rehearse({ nodes: chain(start, say("Mine", "mine")), message: "hi" });
  expect(passed.path[0]?.did).toEqual([`starts the flow Other (${other.id}), which is not rehearsed`]);
  expect(writtenBy("flow", passed)).toEqual(["Mine"]);
  const handed = await rehearse({ nodes: chain(ask, start), message: "hi", script: [{ text: "a@b.de" }] });
  expect(handed).toMatchObject({ status: "completed", reason: "handed_over" });
});

test("a stored flow is rehearsed with a contact's data, by a key that may read contacts", async () => {
  const { id } = await create([say("Dear {{contact.name}}", "dear")], { trigger_keyword: "dear" });
  const phone = openPhone(app, "+14155580001");
  const { conversation_id } = await phone.write("first", { name: "Bea" });
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  const contact = { id: data.contact_id };
  const answer = await rehearse({ flow_id: id, contact, message: "dear me" });
  expect(answer).toMatchObject({ would_trigger: true, status: "completed" });
  expect(writtenBy("flow", answer)).toEqual(["Dear Bea"]);
  expect((await rehearse({ flow_id: id, message: "other" })).would_trigger).toBe(false);
  await app.call(flows.toggle_flow, { id });
  const disabled = await rehearse({ flow_id: id, message: "dear" });
  expect(disabled).toMatchObject({ would_trigger: true, is_enabled: false });
  expect((await expectFailure(rehearse({ flow_id: id, nodes: [say("x")] }))).status).toBe(400);
});

test("a contact's data need the scope of contacts; a blocked contact gets nothing", async () => {
  const phone = openPhone(app, "+14155580003");
  const { conversation_id } = await phone.write("hi", { name: "Cem" });
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  const input = { nodes: [say("Dear {{contact.name}}", "dear")], contact: { id: data.contact_id } };
  const key = await app.call(apiKeys.create_api_key, { name: "inbox", scopes: ["inbox:read"] });
  const limited = { key: key.data.secret_key };
  expect(await expectFailure(app.call(flows.rehearse_flow, input, limited))).toMatchObject({
    status: 403,
    error: { required_scope: "contacts:read" },
  });
  const sample = await app.call(flows.rehearse_flow, { ...input, contact: { name: "Cem" } }, limited);
  expect(writtenBy("flow", sample.data)).toEqual(["Dear Cem"]);
  await app.call(contacts.update_contact, { id: data.contact_id, blocked: true });
  expect(await rehearse(input)).toMatchObject({
    status: "cancelled",
    reason: "blocked",
    path: [],
    messages: [],
  });
});

test("a rehearsal stores nothing", async () => {
  const { id } = await create(chain(ask, say("Done", "done")), {
    trigger_keyword: "stored",
    end_action_type: "snooze",
  });
  const phone = openPhone(app, "+14155580002");
  const { conversation_id } = await phone.write("before");
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  await app.advanceTime(1_000);
  const before = await readTables();
  const answer = await rehearse({
    flow_id: id,
    contact: { id: data.contact_id },
    message: "stored",
    script: [{ text: "stop" }, { text: "a@b.de" }],
  });
  expect(answer).toMatchObject({ status: "completed", changes: { conversation: { status: "snoozed" } } });
  expect(await readTables()).toEqual(before);
});

/** Every row of every table, but for those that each request and process writes. */
async function readTables(): Promise<Readonly<Record<string, unknown>>> {
  const db = app.server.database.queries;
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not in ('api_keys', 'processes')
  `.execute(db);
  const contents: Record<string, unknown> = {};
  for (const { name } of tables) {
    const { rows } =
      await sql`select row_to_json(t)::text as row from ${sql.table(name)} as t order by 1`.execute(db);
    contents[name] = rows;
  }
  return contents;
}
