/** Conversations: one thread a contact, its window, and how it comes back. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { users } from "../tools/users.ts";
import { refusal } from "./support/failure.ts";
import { type House, openHouse, ownerEmail, ownerPassword } from "./support/house.ts";
import { phone } from "./support/simulator.ts";
import { hire, makeTeam, miscounts } from "./support/staff.ts";

const hours = 3_600_000;
let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

const send = (to: string) => house.call(messages.send_message, { to, type: "text", text: { body: "hello" } });
const get = async (id: string) => (await house.call(conversations.get_conversation, { id })).data;

test("an inbound message from an unknown number makes a contact and an open thread", async () => {
  const { conversation_id } = await phone(house, "+14155550131").write("hi", { name: "Ada" });
  expect(await get(conversation_id)).toMatchObject({
    contact_name: "Ada",
    phone_number: "+14155550131",
    platform: "whatsapp",
    status: "open",
    is_within_24h_window: true,
    window_expires_at: new Date(house.now().getTime() + 24 * hours).toISOString(),
    is_expired: false,
    assigned_to: null,
  });
});

test("a name that the channel tells is kept for a contact that has none, and changes no other", async () => {
  await send("+14155550137");
  const { conversation_id } = await phone(house, "+14155550137").write("hi", { name: "Ada" });
  expect((await get(conversation_id)).contact_name).toBe("Ada");
  await phone(house, "+14155550137").write("hi", { name: "Somebody" });
  expect((await get(conversation_id)).contact_name).toBe("Ada");
});

test("a contact has one thread, whoever writes first", async () => {
  const sent = await send("+14155550132");
  const { conversation_id } = await phone(house, "+14155550132").write("who is this?");
  expect(conversation_id).toBe(sent.data.conversation_id);
});

test("the window closes 24 hours after the contact's last message; our own do not move it", async () => {
  const { conversation_id } = await phone(house, "+14155550133").write("hi");
  await house.turn(23 * hours);
  await send("+14155550133");
  expect((await get(conversation_id)).is_within_24h_window).toBe(true);
  await house.turn(hours);
  expect(await get(conversation_id)).toMatchObject({ is_within_24h_window: false, is_expired: true });
  await phone(house, "+14155550133").write("again");
  expect(await get(conversation_id)).toMatchObject({ is_within_24h_window: true, is_expired: false });
});

test.each([
  ["closed", "open"],
  ["snoozed", "open"],
  ["pending", "pending"],
  ["spam", "spam"],
] as const)("a message into a %s thread makes it %s", async (before, after) => {
  const from = phone(house, "+14155550134");
  const { conversation_id } = await from.write("first");
  await house.app.database.queries
    .updateTable("conversations")
    .set({ status: before })
    .where("id", "=", conversation_id)
    .execute();
  await from.write("second");
  expect((await get(conversation_id)).status).toBe(after);
});

test("lists by contact, status and filter, the latest first", async () => {
  const { conversation_id } = await phone(house, "+14155550135").write("anybody?");
  const { contact_id } = await get(conversation_id);
  const list = async (query: object) =>
    (await house.call(conversations.list_conversations, query)).data.map(({ id }) => id);
  expect(await list({ contact_id })).toEqual([conversation_id]);
  expect((await list({}))[0]).toBe(conversation_id);
  expect(await list({ filter: "unanswered" })).toContain(conversation_id);
  await house.turn(1000);
  await send("+14155550135");
  expect(await list({ filter: "unanswered" })).not.toContain(conversation_id);
  expect(await list({ contact_id, filter: "unassigned", status: "open" })).toEqual([conversation_id]);
  expect(await list({ contact_id, status: "closed" })).toEqual([]);
  await house.turn(24 * hours);
  expect(await list({ contact_id, filter: "expired_window" })).toEqual([conversation_id]);
});

test("a filter that needs a person says so to a key", async () => {
  const call = house.call(conversations.list_conversations, { filter: "assigned_to_me" });
  expect(await refusal(call)).toMatchObject({ status: 400, code: "needs_user" });
});

test("an erased contact takes its thread out of every list", async () => {
  const { conversation_id } = await phone(house, "+14155550136").write("forget me");
  const { contact_id } = await get(conversation_id);
  await house.call(contacts.delete_contact, { id: contact_id });
  expect(await refusal(house.call(conversations.get_conversation, { id: conversation_id }))).toMatchObject({
    status: 404,
  });
  const again = await phone(house, "+14155550136").write("me again");
  expect(again.conversation_id).not.toBe(conversation_id);
});

const write = async (number: string) => (await phone(house, number).write("hi")).conversation_id;
const assign = async (id: string, input: object) =>
  (await house.call(conversations.assign_conversation, { id, ...input })).data;
const transfer = async (id: string, from_agent = "", to_agent = "") =>
  (await house.call(conversations.transfer_conversation, { id, from_agent, to_agent })).data;
const assignmentsOf = async (id: string) =>
  (await house.call(conversations.list_assignments, { id })).data.map((one) => one.assignment_type);

test("an agent is assigned by hand, and the record says for whom the key acted", async () => {
  const team = await makeTeam(house, {}, { Ada: {} });
  const id = await write("+14155550181");
  const login = { email: ownerEmail, password: ownerPassword };
  const owner = (await house.call(auth.login, login)).data.user.id;
  expect(await assign(id, { assigned_to: team.users.Ada, reason: "knows the case" })).toMatchObject({
    conversation_id: id,
    assigned_to: team.users.Ada,
    assigned_by: owner,
    assignment_type: "manual",
    team_id: team.id,
    reason: "knows the case",
    over_capacity: false,
  });
  expect(await get(id)).toMatchObject({ assigned_to_name: "Ada", team_id: team.id });
});

test("the team stays if the agent is in it; else it is their active team of the lowest tier, or none", async () => {
  const [high, low] = [await makeTeam(house, { tier: 7 }, {}), await makeTeam(house, { tier: 3 }, {})];
  const [user_id, loner] = [await hire(house, "Both"), await hire(house, "Loner")];
  for (const { id } of [high, low]) {
    await house.call(teams.add_team_member, { id, user_id, role: "member" });
  }
  const id = await write("+14155550182");
  expect((await assign(id, { assigned_to: user_id })).team_id).toBe(low.id);
  expect((await assign(id, { assigned_to: user_id, team_id: high.id })).team_id).toBe(high.id);
  expect((await assign(id, { assigned_to: user_id })).team_id).toBe(high.id);
  await house.call(teams.update_team, { id: low.id, is_active: false });
  expect((await assign(id, { assigned_to: loner })).team_id).toBeNull();
  expect((await assign(id, { assigned_to: user_id })).team_id).toBe(high.id);
  expect(await miscounts(house)).toEqual([]);
});

test("a person may exceed a capacity, and is told so", async () => {
  const team = await makeTeam(house, {}, { Ada: { max_concurrent_chats: 1 } });
  const [first, second] = [await write("+14155550183"), await write("+14155550184")];
  expect((await assign(first, { assigned_to: team.users.Ada })).over_capacity).toBe(false);
  expect((await assign(second, { assigned_to: team.users.Ada })).over_capacity).toBe(true);
  expect((await assign(first, { assigned_to: team.users.Ada })).over_capacity).toBe(true);
  const { data } = await house.call(teams.list_team_members, { id: team.id });
  expect(data[0]?.current_chat_count).toBe(2);
});

test("a team alone chooses whoever has the most room, and keeps what it can't give yet", async () => {
  const team = await makeTeam(house, {}, { Ada: { max_concurrent_chats: 1 } });
  const [first, second] = [await write("+14155550185"), await write("+14155550186")];
  expect(await assign(first, { team_id: team.id })).toMatchObject({ assigned_to: team.users.Ada });
  expect(await assign(second, { team_id: team.id })).toMatchObject({
    assigned_to: null,
    team_id: team.id,
    assignment_type: "manual",
  });
  await house.call(conversations.update_conversation, { id: first, status: "snoozed" });
  await house.settle();
  expect((await get(second)).assigned_to).toBe(team.users.Ada);
  expect(await assignmentsOf(second)).toEqual(["routing", "manual"]);
});

test.each([
  ["no user", 404, "user_not_found", () => ({ assigned_to: "usr_none" })],
  ["no team", 404, "team_not_found", () => ({ team_id: "team_none" })],
  ["neither", 400, "invalid_request", () => ({})],
])("an assignment to %s is refused", async (_, status, code, input) => {
  const id = await write("+14155550187");
  expect(await refusal(assign(id, input()))).toMatchObject({ status, code });
});

test("who is not in the team, or is switched off, is not given its conversations", async () => {
  const team = await makeTeam(house, {}, {});
  const assigned_to = await hire(house, "Stranger");
  const id = await write("+14155550188");
  expect(await refusal(assign(id, { assigned_to, team_id: team.id }))).toMatchObject({
    status: 422,
    code: "not_a_member",
  });
  await house.app.database.queries
    .updateTable("users")
    .set({ is_active: false })
    .where("id", "=", assigned_to)
    .execute();
  expect(await refusal(assign(id, { assigned_to }))).toMatchObject({ status: 422, code: "user_inactive" });
});

test("a transfer names the agent who has it, and takes the team along", async () => {
  const [desk, experts] = [await makeTeam(house, {}, { Ada: {} }), await makeTeam(house, {}, { Eve: {} })];
  const id = await write("+14155550189");
  const nobody = await refusal(transfer(id, desk.users.Ada, experts.users.Eve));
  expect(nobody.error).toMatchObject({ code: "wrong_agent", current_agent: null });
  await assign(id, { assigned_to: desk.users.Ada });
  const wrong = await refusal(transfer(id, experts.users.Eve, desk.users.Ada));
  expect(wrong).toMatchObject({ status: 409, code: "wrong_agent" });
  expect(wrong.error).toMatchObject({ current_agent: desk.users.Ada });
  expect(await transfer(id, desk.users.Ada, experts.users.Eve)).toMatchObject({
    assigned_to: experts.users.Eve,
    team_id: experts.id,
    assignment_type: "transfer",
  });
  expect(await miscounts(house)).toEqual([]);
});

test("what is taken off its agent is nobody's, and waits for nobody", async () => {
  const team = await makeTeam(house, {}, { Ada: {} });
  const id = await write("+14155550190");
  await assign(id, { assigned_to: team.users.Ada });
  const { data } = await house.call(conversations.unassign_conversation, { id, reason: "done here" });
  expect(data).toMatchObject({ assigned_to: null, assignment_type: "unassign", reason: "done here" });
  await house.settle();
  expect((await get(id)).assigned_to).toBeNull();
  expect(await assignmentsOf(id)).toEqual(["unassign", "manual"]);
  expect(await miscounts(house)).toEqual([]);
});

test("an erased contact frees the agent, who is given what waits", async () => {
  const team = await makeTeam(house, {}, { Ada: { max_concurrent_chats: 1 } });
  const [first, second] = [await write("+14155550191"), await write("+14155550192")];
  await assign(first, { team_id: team.id });
  await assign(second, { team_id: team.id });
  const { contact_id } = await get(first);
  await house.call(contacts.delete_contact, { id: contact_id });
  await house.settle();
  expect((await get(second)).assigned_to).toBe(team.users.Ada);
  expect(await miscounts(house)).toEqual([]);
});

test("a thread that we began is routed when its contact answers", async () => {
  const team = await makeTeam(house, {}, { Ada: {} });
  const sent = await send("+14155550193");
  const id = sent.data.conversation_id;
  const policy = await house.call(routing.create_routing_policy, {
    name: "all",
    strategy: "round_robin",
    target_type: "team",
    target_id: team.id,
  });
  await house.settle();
  expect((await get(id)).assigned_to).toBeNull();
  await write("+14155550193");
  await house.settle();
  expect((await get(id)).assigned_to).toBe(team.users.Ada);
  await house.call(routing.delete_routing_policy, { id: policy.data.id });
});

test.each(["spam", "pending"] as const)(
  "what is %s is not routed by what the contact writes",
  async (status) => {
    const team = await makeTeam(house, {}, { Ada: {} });
    const number = status === "spam" ? "+14155550194" : "+14155550195";
    const id = await write(number);
    await house.call(conversations.update_conversation, { id, status });
    const policy = await house.call(routing.create_routing_policy, {
      name: "all",
      strategy: "round_robin",
      target_type: "team",
      target_id: team.id,
    });
    await write(number);
    await house.settle();
    expect(await get(id)).toMatchObject({ status, assigned_to: null });
    await house.call(routing.delete_routing_policy, { id: policy.data.id });
  },
);

test("one that comes back keeps its agent only while they are there and have room", async () => {
  const team = await makeTeam(house, {}, { Ada: { max_concurrent_chats: 1 } });
  const id = await write("+14155550196");
  const close = () => house.call(conversations.update_conversation, { id, status: "closed" });
  await assign(id, { assigned_to: team.users.Ada });
  await close();
  await write("+14155550196");
  expect(await get(id)).toMatchObject({ status: "open", assigned_to: team.users.Ada });
  await close();
  await assign(await write("+14155550197"), { assigned_to: team.users.Ada });
  await write("+14155550196");
  await house.settle();
  expect(await get(id)).toMatchObject({ status: "open", assigned_to: null, team_id: team.id });
  const { data } = await house.call(routing.list_routing_decisions, { id });
  expect(data.map(({ trigger, outcome }) => `${trigger} ${outcome}`)).toEqual([
    "reopen queued",
    "reopen assigned",
  ]);
  expect(await miscounts(house)).toEqual([]);
});

test("one that comes back without a team leaves an agent who was switched off, and says why", async () => {
  const assigned_to = await hire(house, "Sol");
  const id = await write("+14155550122");
  await assign(id, { assigned_to });
  await house.call(conversations.update_conversation, { id, status: "closed" });
  await house.call(users.update_user, { id: assigned_to, is_active: false });
  await write("+14155550122");
  expect(await get(id)).toMatchObject({ status: "open", assigned_to: null });
  const { data } = await house.call(conversations.list_assignments, { id });
  expect(data[0]?.reason).toBe("Sol can't take it back: inactive.");
});

test("nobody waits in what is closed or spam, and who writes to what was closed waits anew", async () => {
  const waitsIn = async (id: string) => (await get(id)).waiting_since !== null;
  const id = await write("+14155550198");
  expect(await waitsIn(id)).toBe(true);
  await house.call(conversations.update_conversation, { id, status: "closed" });
  expect(await waitsIn(id)).toBe(false);
  await write("+14155550198");
  expect(await waitsIn(id)).toBe(true);
  await house.call(conversations.update_conversation, { id, status: "spam" });
  await write("+14155550198");
  expect(await waitsIn(id)).toBe(false);
});

test("a conversation has at most 200 tags, and one that has them can lose some", async () => {
  const { conversation_id: id } = await phone(house, "+14155550199").write("hi");
  const tag = (change: object) => house.call(conversations.update_conversation, { id, ...change });
  const labels = (from: number) => Array.from({ length: 50 }, (_, index) => `label ${from + index}`);
  for (const from of [0, 50, 100, 150]) {
    await tag({ add_tags: labels(from) });
  }
  expect(await refusal(tag({ add_tags: ["one more"] }))).toMatchObject({
    status: 422,
    code: "too_many_tags",
  });
  const { data } = await tag({ add_tags: ["one more"], remove_tags: ["label 0"] });
  expect(data.tags).toHaveLength(200);
});
