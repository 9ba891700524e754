/** Flows: created with a valid graph, started by messages, and run node by node. */
import { expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { messages } from "../tools/messages/index.ts";
import { teams } from "../tools/teams.ts";
import { useTestApp } from "./support/app.ts";
import { chain, createFlowHelpers, say, textsOf } from "./support/flows.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const { create, runsOf } = createFlowHelpers(app);
let numbers = 0;
const newPhone = () => openPhone(app, `+1415557${String(++numbers).padStart(4, "0")}`);
const hour = 3_600_000;

/** Runs the due jobs until what they enqueue has run too. */
const settle = async () => {
  await app.advanceTime(1_000);
  await app.advanceTime(1_000);
};

test("a keyword starts a flow, whose message is sent once by the flow", async () => {
  const flow = await create([say('Hello {{contact.name | default: "there"}}!')], {
    trigger_keyword: "greet",
  });
  const phone = newPhone();
  const { conversation_id } = await phone.write("Please GREET me");
  await settle();
  expect(textsOf(await phone.listMessages())).toEqual(["Hello there!"]);
  const { data } = await app.call(messages.list_messages, { conversation_id });
  const node_id = flow.nodes[0]?.id;
  expect(data[0]?.sent_by).toEqual({ type: "flow", id: flow.id, name: "Flow", node_id });
  const [run] = await runsOf(conversation_id);
  expect(run).toMatchObject({ status: "completed", trigger_type: "keyword", steps: 1, reason: null });
  expect(run?.path).toMatchObject([{ node_type: "send_message", outcome: "next", message_id: data[0]?.id }]);
});

test("a question waits for the answer, asks again for one that is not valid, and saves it", async () => {
  const nodes = chain(
    {
      id: "ask",
      node_type: "ask",
      action_config: {
        text: "How old?",
        save_as: "age",
        validate: "number",
        retry_text: "A number, please.",
      },
    },
    say("You are {{vars.age}}.", "tell"),
  );
  await create(nodes, { trigger_keyword: "age" });
  const phone = newPhone();
  const { conversation_id } = await phone.write("age");
  await settle();
  expect((await runsOf(conversation_id))[0]).toMatchObject({
    status: "waiting",
    waiting_for: "reply",
    node_id: "ask",
  });
  const context = await app.call(messages.get_conversation_context, { id: conversation_id });
  expect(context.data.flow_run).toMatchObject({ flow_name: "Flow", status: "waiting", waiting_for: "reply" });
  await phone.write("old");
  await settle();
  await phone.write("42");
  await settle();
  expect(textsOf(await phone.listMessages())).toEqual(["How old?", "A number, please.", "You are 42."]);
  const [run] = await runsOf(conversation_id);
  expect(run).toMatchObject({ status: "completed", variables: { age: 42 } });
  expect(run?.path.map(({ node_id, outcome }) => `${node_id} ${outcome}`)).toEqual([
    "ask wait",
    "ask invalid",
    "ask reply",
    "tell next",
  ]);
});

test("a reply by a person cancels the run at once", async () => {
  await create(
    chain(
      say("One moment", "one"),
      { id: "wait", node_type: "wait", action_config: { duration: "1h" } },
      say("Late", "late"),
    ),
    {
      trigger_keyword: "moment",
    },
  );
  const phone = newPhone();
  const { conversation_id } = await phone.write("moment");
  await settle();
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  await app.call(messages.send_message, {
    to: data.phone_number ?? "",
    type: "text",
    text: { body: "I am here" },
  });
  expect((await runsOf(conversation_id))[0]).toMatchObject({ status: "cancelled", reason: "person_replied" });
  await app.advanceTime(2 * hour);
  expect(textsOf(await phone.listMessages())).toEqual(["One moment", "I am here"]);
});

test("each message of a contact starts a flow of the event message.received, once", async () => {
  const event = { trigger_type: "event", trigger_event_type: "message.received" } as const;
  const { id } = await create([say("Seen", "seen")], { ...event, trigger_keyword: undefined });
  const phone = newPhone();
  await phone.write("one");
  await phone.write("two");
  await settle();
  await app.call(flows.delete_flow, { id });
  expect(textsOf(await phone.listMessages())).toEqual(["Seen", "Seen"]);
});

test.each([
  ["word", "café, tea", "Un CAFE por favor", true],
  ["word", "tea", "teapot", false],
  ["word", "订单", "我的订单", true],
  ["exact", "stop it", " Stop  it ", true],
  ["exact", "stop", "stop it", false],
  ["contains", "pot", "teapot", true],
  ["starts_with", "tea", "teapot", true],
  ["starts_with", "pot", "teapot", false],
  ["regex", "^(a|a)*$", `${"a".repeat(4000)}!`, false],
  ["regex", "order \\d{1,3}", "My Order 12", true],
] as const)(
  "the match %s of %s with the message %s",
  async (trigger_match, trigger_keyword, text, isMatch) => {
    const { id } = await create([say("Match")], { trigger_match, trigger_keyword });
    const phone = newPhone();
    await phone.write(text);
    await settle();
    await app.call(flows.delete_flow, { id });
    expect(textsOf(await phone.listMessages())).toEqual(isMatch ? ["Match"] : []);
  },
);

test("toggle disables and enables a flow", async () => {
  const { id } = await create([say("x")], { trigger_keyword: "toggle" });
  expect((await app.call(flows.toggle_flow, { id })).data).toEqual({ id, name: "Flow", is_enabled: false });
  expect((await app.call(flows.toggle_flow, { id })).data.is_enabled).toBe(true);
});

test("toggle with is_enabled sets the state, however often it is called", async () => {
  const { id } = await create([say("x")], { trigger_keyword: "state" });
  const set = async (is_enabled: boolean) => (await app.call(flows.toggle_flow, { id, is_enabled })).data;
  expect(await set(true)).toMatchObject({ id, is_enabled: true });
  expect(await set(false)).toMatchObject({ id, is_enabled: false });
  expect(await set(false)).toMatchObject({ id, is_enabled: false });
  expect((await app.call(flows.get_flow, { id })).data.is_enabled).toBe(false);
});

test("a flow that is created disabled starts once it is enabled", async () => {
  const flow = await create([say("Now")], { trigger_keyword: "later", is_enabled: false });
  expect(flow.is_enabled).toBe(false);
  const phone = newPhone();
  await phone.write("later");
  await settle();
  await app.call(flows.toggle_flow, { id: flow.id, is_enabled: true });
  expect(textsOf(await phone.listMessages())).toEqual([]);
  await phone.write("later");
  await settle();
  expect(textsOf(await phone.listMessages())).toEqual(["Now"]);
});

test("a schedule that is created disabled has no next time until it is enabled", async () => {
  const flow = await create([say("x")], {
    trigger_type: "schedule",
    trigger_keyword: undefined,
    trigger_schedule: "0 9 * * *",
    is_enabled: false,
  });
  expect(flow.next_run_at).toBeNull();
  await app.call(flows.toggle_flow, { id: flow.id, is_enabled: true });
  expect((await app.call(flows.get_flow, { id: flow.id })).data.next_run_at).not.toBeNull();
});

test("another end action takes of the stored config what it can use", async () => {
  const { data: team } = await app.call(teams.create_team, { name: "Support" });
  const flow = await create([say("Bye")], {
    trigger_keyword: "farewell",
    end_action_type: "assign",
    end_action_config: { team_id: team.id },
  });
  const { data } = await app.call(flows.update_flow, { id: flow.id, end_action_type: "resolve" });
  expect(data).toMatchObject({ end_action_type: "resolve", end_action_config: {} });
});
