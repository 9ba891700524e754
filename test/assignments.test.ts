/** Assignments of conversations: by hand, by transfer, and when a conversation is routed or reopened. */
import { expect, test } from "vitest";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { users } from "../tools/users.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone } from "./support/simulator.ts";
import { createTeamWithMembers, findWrongChatCounts, insertAgent } from "./support/teams.ts";

const app = useTestApp();

const send = (to: string) => app.call(messages.send_message, { to, type: "text", text: { body: "hello" } });
const get = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;

const write = async (number: string) => (await openPhone(app, number).write("hi")).conversation_id;
const assign = async (id: string, input: object) =>
  (await app.call(conversations.assign_conversation, { id, ...input })).data;
const transfer = async (id: string, from_agent = "", to_agent = "") =>
  (await app.call(conversations.transfer_conversation, { id, from_agent, to_agent })).data;
const assignmentsOf = async (id: string) =>
  (await app.call(conversations.list_assignments, { id })).data.map(({ assignment_type }) => assignment_type);

test("an assignment by key records the key", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: {} });
  const id = await write("+14155550181");
  const { credential } = (await app.call(auth.whoami, {})).data;
  expect(await assign(id, { assigned_to: team.users.Ada, reason: "knows the case" })).toMatchObject({
    conversation_id: id,
    assigned_to: team.users.Ada,
    assigned_by: credential.id,
    assigned_by_type: "api_key",
    assignment_type: "manual",
    team_id: team.id,
    reason: "knows the case",
    over_capacity: false,
  });
  expect(await get(id)).toMatchObject({ assigned_to_name: "Ada", team_id: team.id });
});

test("the team is kept if the agent is a member, else it becomes the agent's active team of the lowest tier, or none", async () => {
  const [high, low] = [
    await createTeamWithMembers(app, { tier: 7 }, {}),
    await createTeamWithMembers(app, { tier: 3 }, {}),
  ];
  const [user_id, loner] = [await insertAgent(app, "Both"), await insertAgent(app, "Loner")];
  for (const { id } of [high, low]) {
    await app.call(teams.add_team_member, { id, user_id, role: "member" });
  }
  const id = await write("+14155550182");
  expect((await assign(id, { assigned_to: user_id })).team_id).toBe(low.id);
  expect((await assign(id, { assigned_to: user_id, team_id: high.id })).team_id).toBe(high.id);
  expect((await assign(id, { assigned_to: user_id })).team_id).toBe(high.id);
  await app.call(teams.update_team, { id: low.id, is_active: false });
  expect((await assign(id, { assigned_to: loner })).team_id).toBeNull();
  expect((await assign(id, { assigned_to: user_id })).team_id).toBe(high.id);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("a manual assignment may exceed the capacity, and the response says so", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 1 } });
  const [first, second] = [await write("+14155550183"), await write("+14155550184")];
  expect((await assign(first, { assigned_to: team.users.Ada })).over_capacity).toBe(false);
  expect((await assign(second, { assigned_to: team.users.Ada })).over_capacity).toBe(true);
  expect((await assign(first, { assigned_to: team.users.Ada })).over_capacity).toBe(true);
  const { data } = await app.call(teams.list_team_members, { id: team.id });
  expect(data[0]?.current_chat_count).toBe(2);
});

test("an assignment to a team picks the member with the most free capacity, else waits in the team", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 1 } });
  const [first, second] = [await write("+14155550185"), await write("+14155550186")];
  expect(await assign(first, { team_id: team.id })).toMatchObject({ assigned_to: team.users.Ada });
  expect(await assign(second, { team_id: team.id })).toMatchObject({
    assigned_to: null,
    team_id: team.id,
    assignment_type: "manual",
  });
  await app.call(conversations.update_conversation, { id: first, status: "snoozed" });
  await app.runDueJobs();
  expect((await get(second)).assigned_to).toBe(team.users.Ada);
  expect(await assignmentsOf(second)).toEqual(["routing", "manual"]);
});

test.each([
  ["no user", 404, "user_not_found", () => ({ assigned_to: "usr_none" })],
  ["no team", 404, "team_not_found", () => ({ team_id: "team_none" })],
  ["neither", 400, "invalid_request", () => ({})],
])("an assignment to %s is rejected", async (_, status, code, input) => {
  const id = await write("+14155550187");
  expect(await expectFailure(assign(id, input()))).toMatchObject({ status, code });
});

test("an agent who is inactive or not in the team can't be assigned", async () => {
  const team = await createTeamWithMembers(app, {}, {});
  const assigned_to = await insertAgent(app, "Outsider");
  const id = await write("+14155550188");
  expect(await expectFailure(assign(id, { assigned_to, team_id: team.id }))).toMatchObject({
    status: 422,
    code: "not_a_member",
  });
  await app.server.database.queries
    .updateTable("users")
    .set({ is_active: false })
    .where("id", "=", assigned_to)
    .execute();
  expect(await expectFailure(assign(id, { assigned_to }))).toMatchObject({
    status: 422,
    code: "user_inactive",
  });
});

test("a transfer to an unknown agent is not found, also if from_agent is wrong", async () => {
  const id = await write("+14155550187");
  const failure = await expectFailure(transfer(id, "usr_wrong", "usr_none"));
  expect(failure).toMatchObject({ status: 404, code: "user_not_found", error: { param: "to_agent" } });
});

test("a transfer to the present agent is rejected, and no assignment is recorded", async () => {
  const { users } = await createTeamWithMembers(app, {}, { Ada: {} });
  const id = await write("+14155550171");
  await assign(id, { assigned_to: users.Ada });
  expect(await expectFailure(transfer(id, users.Ada, users.Ada))).toMatchObject({
    status: 409,
    code: "already_assigned",
    error: { param: "to_agent" },
  });
  const { data } = await app.call(conversations.list_assignments, { id });
  expect(data.map(({ assignment_type }) => assignment_type)).toEqual(["manual"]);
});

test("a transfer must name the current agent, and changes the team too", async () => {
  const [desk, experts] = [
    await createTeamWithMembers(app, {}, { Ada: {} }),
    await createTeamWithMembers(app, {}, { Eve: {} }),
  ];
  const id = await write("+14155550189");
  const unassigned = await expectFailure(transfer(id, desk.users.Ada, experts.users.Eve));
  expect(unassigned.error).toMatchObject({ code: "wrong_agent", current_agent: null });
  await assign(id, { assigned_to: desk.users.Ada });
  const wrong = await expectFailure(transfer(id, experts.users.Eve, desk.users.Ada));
  expect(wrong).toMatchObject({ status: 409, code: "wrong_agent" });
  expect(wrong.error).toMatchObject({ current_agent: desk.users.Ada });
  expect(await transfer(id, desk.users.Ada, experts.users.Eve)).toMatchObject({
    assigned_to: experts.users.Eve,
    team_id: experts.id,
    assignment_type: "transfer",
  });
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("an unassigned conversation stays unassigned and is not routed again", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: {} });
  const id = await write("+14155550190");
  await assign(id, { assigned_to: team.users.Ada });
  const { data } = await app.call(conversations.unassign_conversation, { id, reason: "done here" });
  expect(data).toMatchObject({ assigned_to: null, assignment_type: "unassign", reason: "done here" });
  await app.runDueJobs();
  expect((await get(id)).assigned_to).toBeNull();
  expect(await assignmentsOf(id)).toEqual(["unassign", "manual"]);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("a conversation that was taken out of the queue says so, until the contact writes again", async () => {
  const team = await createTeamWithMembers(app, { name: "Support" }, {});
  const id = await write("+14155550289");
  const waitingReason = async () =>
    (await app.call(messages.get_conversation_context, { id })).data.waiting_reason;
  const waits =
    'The team "Support", which has no policy (by free room), found nobody free (nobody is there): it waits in the queue of Support.';
  await assign(id, { team_id: team.id });
  expect(await waitingReason()).toBe(waits);
  await app.call(conversations.unassign_conversation, { id });
  expect(await waitingReason()).toBe(
    "It was taken out of the queue: an agent is looked for when the contact writes again.",
  );
  await write("+14155550289");
  await app.runDueJobs();
  expect(await waitingReason()).toBe(waits);
});

test("erasing a contact frees the agent, who gets a waiting conversation", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 1 } });
  const [first, second] = [await write("+14155550191"), await write("+14155550192")];
  await assign(first, { team_id: team.id });
  await assign(second, { team_id: team.id });
  const { contact_id } = await get(first);
  await app.call(contacts.delete_contact, { id: contact_id });
  await app.runDueJobs();
  expect((await get(second)).assigned_to).toBe(team.users.Ada);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("a conversation that we started is routed when the contact answers", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: {} });
  const sent = await send("+14155550193");
  const id = sent.data.conversation_id;
  const policy = await app.call(routing.create_routing_policy, {
    name: "all",
    strategy: "round_robin",
    target_type: "team",
    target_id: team.id,
  });
  await app.runDueJobs();
  expect((await get(id)).assigned_to).toBeNull();
  await write("+14155550193");
  await app.runDueJobs();
  expect((await get(id)).assigned_to).toBe(team.users.Ada);
  await app.call(routing.delete_routing_policy, { id: policy.data.id });
});

test.each(["spam", "pending"] as const)(
  "a %s conversation is not routed by an inbound message",
  async (status) => {
    const team = await createTeamWithMembers(app, {}, { Ada: {} });
    const number = status === "spam" ? "+14155550194" : "+14155550195";
    const id = await write(number);
    await app.call(conversations.update_conversation, { id, status });
    const policy = await app.call(routing.create_routing_policy, {
      name: "all",
      strategy: "round_robin",
      target_type: "team",
      target_id: team.id,
    });
    await write(number);
    await app.runDueJobs();
    expect(await get(id)).toMatchObject({ status, assigned_to: null });
    await app.call(routing.delete_routing_policy, { id: policy.data.id });
  },
);

test("a reopened conversation keeps its agent only while the agent is available with free capacity", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 1 } });
  const id = await write("+14155550196");
  const close = () => app.call(conversations.update_conversation, { id, status: "closed" });
  await assign(id, { assigned_to: team.users.Ada });
  await close();
  await write("+14155550196");
  expect(await get(id)).toMatchObject({ status: "open", assigned_to: team.users.Ada });
  await close();
  await assign(await write("+14155550197"), { assigned_to: team.users.Ada });
  await write("+14155550196");
  await app.runDueJobs();
  expect(await get(id)).toMatchObject({ status: "open", assigned_to: null, team_id: team.id });
  const { data } = await app.call(routing.list_routing_decisions, { id });
  expect(data.map(({ trigger, outcome }) => `${trigger} ${outcome}`)).toEqual([
    "reopen queued",
    "reopen assigned",
  ]);
  const { data: older, meta } = await app.call(routing.list_routing_decisions, { id, page: 2, per_page: 1 });
  expect({ older, meta }).toEqual({ older: [data[1]], meta: { page: 2, per_page: 1, total: 2 } });
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("a reopened conversation without a team leaves an inactive agent, and records why", async () => {
  const assigned_to = await insertAgent(app, "Sol");
  const id = await write("+14155550122");
  await assign(id, { assigned_to });
  await app.call(conversations.update_conversation, { id, status: "closed" });
  await app.call(users.update_user, { id: assigned_to, is_active: false });
  await write("+14155550122");
  expect(await get(id)).toMatchObject({ status: "open", assigned_to: null });
  const { data } = await app.call(conversations.list_assignments, { id });
  expect(data[0]?.reason).toBe("Sol can't take it back: inactive.");
});
