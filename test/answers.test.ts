/** The answer to a broadcast or to a flow that wrote first: who gets it, and the conversation's status. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { routing } from "../tools/routing.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { createChatbotHelpers, handoffText } from "./support/chatbot.ts";
import { chain, createFlowHelpers, type NewNode, say } from "./support/flows.ts";
import { openPhone } from "./support/simulator.ts";
import { type CreatedTeam, createTeamWithMembers } from "./support/teams.ts";

const app = useTestApp();
const audience = createBroadcastHelpers(app);
const bot = createChatbotHelpers(app);
const { create } = createFlowHelpers(app);

const question = "What are your opening hours?";
const minute = 60_000;
const ask: NewNode = {
  id: "ask",
  node_type: "ask",
  action_config: { text: "Did it arrive?", save_as: "arrived" },
};
let team: CreatedTeam;
let count = 0;

beforeAll(async () => {
  team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 100 } });
  const target = { target_type: "team", target_id: team.id } as const;
  await app.call(routing.create_routing_policy, { name: "All", strategy: "round_robin", ...target });
  await bot.configure();
  await bot.addPair(question, "9 to 17.");
});

beforeEach(() => bot.setInbox(false));

const newNumber = () => `+1415555${7000 + count++}`;
const get = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;
const only = async (contact_id: string) =>
  (await app.call(conversations.list_conversations, { contact_id })).data[0];

/** Sends a broadcast to a new contact. */
async function broadcastTo(number: string) {
  const { cohort, people } = await audience.createCohort([number], { name: "Ann" });
  const template = await audience.approve({ name: `news_${count}` });
  const created = await audience.create({ name: "News", template_id: template.id, cohort_id: cohort.id });
  await audience.execute(created.id);
  await audience.deliver();
  return people[0]?.id ?? "";
}

/** Runs a flow by a schedule for a new contact. */
async function runFlowFor(number: string, nodes: NewNode[]) {
  const { cohort, people } = await audience.createCohort([number]);
  await create(nodes, {
    trigger_type: "schedule",
    trigger_keyword: undefined,
    trigger_schedule_at: new Date(app.now().getTime() + minute).toISOString(),
    settings: { cohort_id: cohort.id },
  });
  await app.advanceTime(minute);
  await app.advanceTime(1_000);
  return people[0]?.id ?? "";
}

async function write(number: string, text: string) {
  const { conversation_id } = await openPhone(app, number).write(text);
  await app.advanceTime(2_000);
  return get(conversation_id);
}

test("the answer to a broadcast opens the conversation, and it is routed", async () => {
  const number = newNumber();
  const contact_id = await broadcastTo(number);
  expect(await only(contact_id)).toMatchObject({ status: "pending", assigned_to: null });
  const answered = await write(number, "Tell me more");
  expect(answered).toMatchObject({ contact_id, status: "open", assigned_to: team.users.Ada });
  const { data } = await app.call(routing.list_routing_decisions, { id: answered.id });
  expect(data.map(({ trigger, outcome }) => [trigger, outcome])).toEqual([["inbound", "assigned"]]);
});

test("the answer to a flow that only writes opens the conversation, and it is routed", async () => {
  const number = newNumber();
  const contact_id = await runFlowFor(number, [say("Your parcel is on its way.")]);
  expect((await only(contact_id))?.status).toBe("pending");
  expect(await write(number, "When?")).toMatchObject({ status: "open", assigned_to: team.users.Ada });
});

test("an answer that a waiting flow takes leaves the conversation pending, and its hand-off opens it", async () => {
  const number = newNumber();
  const assign = { id: "assign", node_type: "assign", action_config: { team_id: team.id } } as const;
  const thank = { ...ask, id: "why", action_config: { text: "Why not?", save_as: "why" } };
  await runFlowFor(number, chain(ask, thank, assign));
  expect(await write(number, "no")).toMatchObject({ status: "pending", assigned_to: null });
  expect(await write(number, "It rains")).toMatchObject({ status: "open", assigned_to: team.users.Ada });
});

test("the message after a flow that ended without a hand-off opens the conversation", async () => {
  const number = newNumber();
  await runFlowFor(number, chain(ask, say("Good.")));
  expect(await write(number, "yes")).toMatchObject({ status: "pending", assigned_to: null });
  expect(await write(number, "One more thing")).toMatchObject({
    status: "open",
    assigned_to: team.users.Ada,
  });
});

test("an answer that the bot takes leaves the conversation pending, and its hand-off opens it", async () => {
  const number = newNumber();
  await bot.setInbox(true);
  await broadcastTo(number);
  expect(await write(number, question)).toMatchObject({ status: "pending", assigned_to: null });
  expect(await write(number, "Do you sell giraffes?")).toMatchObject({
    status: "open",
    assigned_to: team.users.Ada,
  });
  expect(await bot.sentTo(number)).toContain(handoffText);
});

test("a closed conversation becomes pending with a message that the bot takes", async () => {
  const number = newNumber();
  await bot.setInbox(true);
  const { id } = await write(number, question);
  await app.call(conversations.update_conversation, { id, status: "closed" });
  expect(await write(number, question)).toMatchObject({ status: "pending", assigned_to: null });
  await bot.setInbox(false);
  await app.call(conversations.update_conversation, { id, status: "closed" });
  expect(await write(number, question)).toMatchObject({ status: "open", assigned_to: team.users.Ada });
});

test("a conversation that was set to pending stays pending, also one that a broadcast began", async () => {
  const number = newNumber();
  const contact_id = await broadcastTo(number);
  const { id = "" } = (await only(contact_id)) ?? {};
  await app.call(conversations.update_conversation, { id, status: "pending" });
  expect(await write(number, "Hello?")).toMatchObject({ status: "pending", assigned_to: null });
});

test("a flow that waits for a time does not take the answer", async () => {
  const number = newNumber();
  const wait = { id: "wait", node_type: "wait", action_config: { duration: "2h" } } as const;
  await runFlowFor(number, chain(say("Hello"), wait, ask));
  expect(await write(number, "Who is this?")).toMatchObject({ status: "open", assigned_to: team.users.Ada });
  const { data } = await app.call(flows.list_flow_runs, { status: "waiting" });
  expect(data.length).toBeGreaterThan(0);
});
