/** Teams: members, capacities, and the effect of changes on conversations. */
import { expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone } from "./support/simulator.ts";
import { createTeamWithMembers, findWrongChatCounts, insertAgent } from "./support/teams.ts";

const app = useTestApp();

const get = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;

test("a new team is inactive, in the first tier and empty", async () => {
  const { data } = await app.call(teams.create_team, { name: "Sales" });
  expect(data).toMatchObject({ name: "Sales", description: null, settings: {}, is_active: false, tier: 1 });
  expect(await app.call(teams.get_team, { id: data.id })).toEqual({ data });
  await app.call(teams.delete_team, { id: data.id });
});

test("teams are listed by tier, with members, their names and chat counts", async () => {
  const high = await createTeamWithMembers(app, { name: "Experts", tier: 9 }, { Eve: { skills: ["fr"] } });
  const low = await createTeamWithMembers(app, { name: "Desk", tier: -1 }, {});
  const { data } = await app.call(teams.list_teams, {});
  // Those of other tests are of the first tier.
  expect([data[0]?.id, data.at(-1)?.id]).toEqual([low.id, high.id]);
  expect(data.at(-1)?.members).toEqual([
    {
      id: high.members.Eve,
      user_id: high.users.Eve,
      name: "Eve",
      role: "member",
      is_available: true,
      max_concurrent_chats: 5,
      current_chat_count: 0,
      skills: ["fr"],
    },
  ]);
  const members = await app.call(teams.list_team_members, { id: high.id });
  expect(members.data).toMatchObject([{ id: high.members.Eve, name: "Eve" }]);
});

test("an update changes the fields sent and replaces settings completely", async () => {
  const { data } = await app.call(teams.create_team, { name: "Old", settings: { a: 1 } });
  const changed = await app.call(teams.update_team, { id: data.id, name: "New", settings: { b: 2 } });
  expect(changed.data).toMatchObject({ name: "New", settings: { b: 2 }, tier: 1 });
});

test("a user can be a member once, and must belong to the organization", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: {} });
  const add = (user_id: string) =>
    expectFailure(app.call(teams.add_team_member, { id: team.id, user_id, role: "lead" }));
  const twice = await add(team.users.Ada ?? "");
  expect(twice).toMatchObject({ status: 409, code: "team_member_exists" });
  expect(twice.error).toMatchObject({ existing_id: team.members.Ada });
  expect(await add("usr_none")).toMatchObject({ status: 404, code: "user_not_found" });
});

test("of several concurrent additions of one user, one succeeds", async () => {
  const team = await createTeamWithMembers(app, {}, {});
  const user_id = await insertAgent(app, "Dan");
  const add = () => app.call(teams.add_team_member, { id: team.id, user_id, role: "member" });
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, add));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a member is not found in another team", async () => {
  const [one, other] = [
    await createTeamWithMembers(app, {}, { Ada: {} }),
    await createTeamWithMembers(app, {}, {}),
  ];
  const call = app.call(teams.update_team_member, { id: other.id, member_id: one.members.Ada ?? "" });
  expect(await expectFailure(call)).toMatchObject({ status: 404, code: "team_member_not_found" });
});

test("a team used by an active policy can't be deleted; a deleted team's conversations keep their agents", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: {} });
  const { data: policy } = await app.call(routing.create_routing_policy, {
    name: "Everything",
    strategy: "round_robin",
    target_type: "team",
    target_id: team.id,
  });
  const failure = await expectFailure(app.call(teams.delete_team, { id: team.id }));
  expect(failure).toMatchObject({ status: 409, code: "team_in_use" });
  expect(failure.message).toContain("Everything");
  await app.call(routing.update_routing_policy, { id: policy.id, is_active: false });

  const served = await openPhone(app, "+14155550161").write("hi");
  const waiting = await openPhone(app, "+14155550162").write("hi");
  await app.call(conversations.assign_conversation, { id: served.conversation_id, team_id: team.id });
  await setMember(team.id, team.members.Ada, { is_available: false });
  await app.call(conversations.assign_conversation, { id: waiting.conversation_id, team_id: team.id });
  await app.call(teams.delete_team, { id: team.id });
  expect(await get(served.conversation_id)).toMatchObject({ assigned_to: team.users.Ada, team_id: null });
  expect(await get(waiting.conversation_id)).toMatchObject({ assigned_to: null, team_id: null });
  expect(await expectFailure(app.call(teams.get_team, { id: team.id }))).toMatchObject({ status: 404 });
});

test("the waiting conversations of a deleted team are routed by the other policies", async () => {
  const [team, other] = [
    await createTeamWithMembers(app, {}, {}),
    await createTeamWithMembers(app, {}, { Ben: {} }),
  ];
  const { conversation_id: id } = await openPhone(app, "+14155550171").write("hi");
  await app.call(conversations.assign_conversation, { id, team_id: team.id });
  const { data: policy } = await app.call(routing.create_routing_policy, {
    name: "Everything else",
    strategy: "round_robin",
    target_type: "team",
    target_id: other.id,
  });
  await app.runDueJobs();
  expect(await get(id)).toMatchObject({ assigned_to: null, team_id: team.id });
  await app.call(teams.delete_team, { id: team.id });
  await app.runDueJobs();
  expect(await get(id)).toMatchObject({ assigned_to: other.users.Ben, team_id: other.id });
  await app.call(routing.delete_routing_policy, { id: policy.id });
});

const setMember = (id: string, member_id = "", change: object = {}) =>
  app.call(teams.update_team_member, { id, member_id, ...change });

test("a removed member keeps their conversations, which count again on return", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: {} });
  const { conversation_id: id } = await openPhone(app, "+14155550163").write("hi");
  await app.call(conversations.assign_conversation, { id, team_id: team.id });
  await app.call(teams.remove_team_member, { id: team.id, member_id: team.members.Ada ?? "" });
  expect((await get(id)).assigned_to).toBe(team.users.Ada);
  const { data } = await app.call(teams.add_team_member, {
    id: team.id,
    user_id: team.users.Ada ?? "",
    role: "member",
  });
  expect(data.current_chat_count).toBe(1);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test.each([
  ["becomes available", { is_available: false }, { is_available: true }],
  ["gets more capacity", { max_concurrent_chats: 1 }, { max_concurrent_chats: 2 }],
] as const)("an agent who %s gets the waiting conversation", async (_, before, after) => {
  const team = await createTeamWithMembers(app, {}, { Ada: before });
  const write = async (number: string) => (await openPhone(app, number).write("hi")).conversation_id;
  const [first, second] = [await write("+14155550164"), await write("+14155550165")];
  await app.call(conversations.assign_conversation, { id: first, team_id: team.id });
  await app.advanceTime(1000);
  await app.call(conversations.assign_conversation, { id: second, team_id: team.id });
  const waiting = "is_available" in before ? first : second;
  expect((await get(waiting)).assigned_to).toBeNull();
  await setMember(team.id, team.members.Ada, after);
  await app.runDueJobs();
  expect((await get(waiting)).assigned_to).toBe(team.users.Ada);
  await app.call(conversations.update_conversation, { id: first, status: "closed" });
  await app.call(conversations.update_conversation, { id: second, status: "closed" });
});

test("a new member, and an activated team, get waiting conversations", async () => {
  const team = await createTeamWithMembers(app, { is_active: false }, { Ada: { max_concurrent_chats: 1 } });
  const write = async (number: string) => (await openPhone(app, number).write("hi")).conversation_id;
  const [first, second] = [await write("+14155550166"), await write("+14155550167")];
  for (const id of [first, second]) {
    await app.call(conversations.assign_conversation, { id, team_id: team.id });
    await app.advanceTime(1000);
  }
  expect((await get(first)).assigned_to).toBeNull();
  await app.call(teams.update_team, { id: team.id, is_active: true });
  await app.runDueJobs();
  expect([(await get(first)).assigned_to, (await get(second)).assigned_to]).toEqual([team.users.Ada, null]);
  const user_id = await insertAgent(app, "Bob");
  await app.call(teams.add_team_member, { id: team.id, user_id, role: "member" });
  await app.runDueJobs();
  expect((await get(second)).assigned_to).toBe(user_id);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("an assignment during the deletion of its team leaves no deleted team behind", async () => {
  for (let round = 0; round < 8; round += 1) {
    const team = await createTeamWithMembers(app, {}, { Ada: {} });
    const { conversation_id: id } = await openPhone(app, `+1415555${2200 + round}`).write("hi");
    const assign = (target: object) =>
      expectFailure(app.call(conversations.assign_conversation, { id, ...target })).catch(() => undefined);
    await Promise.all([
      assign({ team_id: team.id }),
      assign({ team_id: team.id, assigned_to: team.users.Ada }),
      assign({ assigned_to: team.users.Ada }),
      app.call(teams.delete_team, { id: team.id }),
    ]);
    expect((await get(id)).team_id).toBeNull();
  }
});
