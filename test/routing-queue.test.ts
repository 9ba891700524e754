/** The routing queue: who waits, who is assigned next, escalation to further tiers, and requeueing. */
import { describe, expect, test } from "vitest";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { users } from "../tools/users.ts";
import { useRoutingApp } from "./support/routing.ts";
import { openPhone } from "./support/simulator.ts";
import { createTeamWithMembers, findWrongChatCounts, insertAgent } from "./support/teams.ts";

const { app, nextNumber, write, writeMany, createPolicy, get, close, decisionsOf } = useRoutingApp();

describe("without a free agent", () => {
  test("conversations wait, and the oldest is assigned first", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 1 } });
    await createPolicy(team, { strategy: "round_robin" });
    const served = await write();
    const waiting: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      await app.advanceTime(1000);
      waiting.push(await write());
    }
    const [first = "", second = "", third = ""] = waiting;
    expect(await decisionsOf(first)).toMatchObject([
      { outcome: "queued", team_id: team.id, candidates: [{ name: "Ada", passed_over: "at_capacity" }] },
    ]);
    await close(served);
    await app.runDueJobs();
    expect((await get(first)).assigned_to).toBe(team.users.Ada);
    expect([(await get(second)).assigned_to, (await get(third)).assigned_to]).toEqual([null, null]);
    expect((await decisionsOf(first))[0]).toMatchObject({ trigger: "capacity", outcome: "assigned" });
    await close(second);
    await close(first);
    await app.runDueJobs();
    expect((await get(third)).assigned_to).toBe(team.users.Ada);
    expect(await findWrongChatCounts(app)).toEqual([]);
  });

  test("a new conversation does not overtake waiting ones when an agent becomes free", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 1 } });
    await createPolicy(team, { strategy: "round_robin" });
    const served = await write();
    const waiting = await write();
    await app.advanceTime(1000);
    const { conversation_id: late } = await openPhone(app, nextNumber()).write("me first");
    await close(served);
    await app.runDueJobs();
    expect((await get(waiting)).assigned_to).toBe(team.users.Ada);
    expect((await get(late)).assigned_to).toBeNull();
  });

  test("a conversation that waits for another skill is skipped, and keeps its place", async () => {
    const team = await createTeamWithMembers(
      app,
      {},
      { Ada: { max_concurrent_chats: 1 }, Fay: { skills: ["fr"], is_available: false } },
    );
    const conditions = { attribute: "message.text", operator: "contains", value: "bonjour" };
    const settings = { required_skills: ["fr"] };
    await createPolicy(team, { strategy: "skills_based", priority: 1, conditions, settings });
    await createPolicy(team, { strategy: "round_robin" });
    const served = await write();
    const { conversation_id: french } = await openPhone(app, nextNumber()).write("bonjour");
    await app.advanceTime(1000);
    const plain = await write();
    await close(served);
    await app.runDueJobs();
    expect((await get(plain)).assigned_to).toBe(team.users.Ada);
    expect((await get(french)).assigned_to).toBeNull();
    const member_id = team.members.Fay ?? "";
    await app.call(teams.update_team_member, { id: team.id, member_id, is_available: true });
    await app.runDueJobs();
    expect((await get(french)).assigned_to).toBe(team.users.Fay);
  });

  test("each further tier is tried after another waiting time", async () => {
    const full = { max_concurrent_chats: 1, is_available: false };
    const first = await createTeamWithMembers(app, { name: "First" }, { Ada: full });
    await createTeamWithMembers(app, { name: "Second", tier: 2 }, { Bob: full });
    const third = await createTeamWithMembers(app, { name: "Third", tier: 5 }, { Cyd: {} });
    await createPolicy(first, { strategy: "round_robin", settings: { escalate_after_seconds: 60 } });
    const id = await write();
    await app.advanceTime(60_000);
    expect(await get(id)).toMatchObject({ assigned_to: null, team_id: first.id });
    await app.advanceTime(59_000);
    expect((await get(id)).assigned_to).toBeNull();
    await app.advanceTime(1_000);
    expect(await get(id)).toMatchObject({ assigned_to: third.users.Cyd, team_id: third.id });
    const decisions = await decisionsOf(id);
    expect(decisions.map(({ trigger, outcome }) => `${trigger} ${outcome}`)).toEqual([
      "escalation assigned",
      "escalation queued",
      "inbound queued",
    ]);
    expect(decisions[0]?.candidates).toMatchObject([
      { name: "Ada", passed_over: "unavailable" },
      { name: "Bob", passed_over: "unavailable" },
      { name: "Cyd", passed_over: null },
    ]);
  });

  test("an unavailable agent's unanswered conversation returns to the queue, if the policy says so", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: {}, Bob: { is_available: false } });
    await createPolicy(team, { strategy: "round_robin", settings: { requeue_after_seconds: 300 } });
    const id = await write();
    const set = (name: string, is_available: boolean) => {
      const member_id = team.members[name] ?? "";
      return app.call(teams.update_team_member, { id: team.id, member_id, is_available });
    };
    await set("Ada", false);
    await set("Bob", true);
    await app.advanceTime(240_000);
    expect((await get(id)).assigned_to).toBe(team.users.Ada);
    await app.advanceTime(120_000);
    expect((await get(id)).assigned_to).toBe(team.users.Bob);
    expect((await decisionsOf(id))[0]).toMatchObject({ trigger: "requeue", outcome: "assigned" });
    expect(await findWrongChatCounts(app)).toEqual([]);
  });
});

test("a reactivated user without a team gets the waiting conversations", async () => {
  const user = await insertAgent(app, "Sol");
  const target = { target_type: "user", target_id: user } as const;
  await app.call(users.update_user, { id: user, is_active: false });
  await app.call(routing.create_routing_policy, { name: "Sol's", strategy: "round_robin", ...target });
  const waiting = await write();
  expect((await get(waiting)).assigned_to).toBeNull();
  await app.call(users.update_user, { id: user, is_active: true });
  await app.runDueJobs();
  expect((await get(waiting)).assigned_to).toBe(user);
});

test("a conversation that can't be requeued does not block others", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: {}, Bob: {} });
  await createPolicy(team, { strategy: "round_robin", settings: { requeue_after_seconds: 60 } });
  const ids = await writeMany(2);
  await app.server.database.queries
    .updateTable("team_members")
    .set({ current_chat_count: 0, is_available: false, unavailable_since: app.now().toISOString() })
    .where("user_id", "=", (await get(ids[0] ?? "")).assigned_to ?? "")
    .execute();
  const [, other = ""] = ids;
  const { assigned_to } = await get(other);
  const member_id = Object.entries(team.users).find(([, id]) => id === assigned_to)?.[0] ?? "";
  await app.call(teams.update_team_member, {
    id: team.id,
    member_id: team.members[member_id] ?? "",
    is_available: false,
  });
  await app.advanceTime(120_000);
  expect((await get(other)).assigned_to).toBeNull();
});
