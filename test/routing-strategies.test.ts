/** Routing strategies: which agent each of them chooses. */
import { describe, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { useRoutingApp } from "./support/routing.ts";
import { createTeamWithMembers } from "./support/teams.ts";

const { app, nextNumber, write, writeMany, createPolicy, get, tally, decisionsOf } = useRoutingApp();

const simulate = async (conversation_id: string, policy_id?: string) =>
  (await app.call(routing.simulate_routing, { conversation_id, ...(policy_id ? { policy_id } : {}) })).data;

describe("strategies", () => {
  test("round robin assigns in turn, and skips unavailable agents", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: {}, Bob: {}, Cyd: {} });
    await createPolicy(team, { strategy: "round_robin" });
    const first = await writeMany(6);
    expect(await tally(first, team)).toEqual({ Ada: 2, Bob: 2, Cyd: 2 });
    const member_id = team.members.Bob ?? "";
    await app.call(teams.update_team_member, { id: team.id, member_id, is_available: false });
    expect(await tally(await writeMany(2), team)).toEqual({ Ada: 1, Cyd: 1 });
    await app.call(teams.update_team_member, { id: team.id, member_id, is_available: true });
    expect(await tally(await writeMany(1), team)).toEqual({ Bob: 1 });
  });

  test("weighted gives each agent their share, within one at every moment", async () => {
    const capacity = { max_concurrent_chats: 100 };
    const team = await createTeamWithMembers(app, {}, { Ada: capacity, Bob: capacity, Cyd: capacity });
    const weights = { [team.users.Ada ?? ""]: 5, [team.users.Bob ?? ""]: 2 };
    await createPolicy(team, { strategy: "weighted", settings: { weights } });
    const ids: string[] = [];
    for (let n = 1; n <= 16; n += 1) {
      ids.push(await write());
      const { Ada = 0, Bob = 0, Cyd = 0 } = await tally(ids, team);
      const off = [Ada - (n * 5) / 8, Bob - (n * 2) / 8, Cyd - n / 8].map(Math.abs);
      expect(Math.max(...off)).toBeLessThanOrEqual(1);
    }
    expect(await tally(ids, team)).toEqual({ Ada: 10, Bob: 4, Cyd: 2 });
  });

  test("load balanced compares the used share of the capacity, not the count", async () => {
    const team = await createTeamWithMembers(
      app,
      {},
      { Small: { max_concurrent_chats: 2 }, Large: { max_concurrent_chats: 6 } },
    );
    await createPolicy(team, { strategy: "load_balanced" });
    expect(await tally(await writeMany(8), team)).toEqual({ Small: 2, Large: 6 });
  });

  test("required skills come from the policy and the tags; after the relax time the closest agent is chosen", async () => {
    const team = await createTeamWithMembers(
      app,
      {},
      { Ada: { skills: ["fr"] }, Bob: { skills: ["FR", "tax"] }, Cyd: { skills: ["tax", "de"] } },
    );
    const settings = { required_skills: ["Tax"], relax_after_seconds: 30 };
    const policy = await createPolicy(team, { strategy: "skills_based", settings, is_active: false });
    const id = await write();
    await app.call(conversations.update_conversation, { id, add_tags: ["skill:Fr"] });
    expect(await simulate(id, policy.id)).toMatchObject({
      outcome: "assigned",
      assigned_to: team.users.Bob,
      candidates: [
        { name: "Ada", passed_over: "lacks_skills" },
        { name: "Bob", passed_over: null },
        { name: "Cyd", passed_over: "lacks_skills" },
      ],
    });
    await app.call(conversations.update_conversation, { id, add_tags: ["skill:de"] });
    await app.call(routing.update_routing_policy, { id: policy.id, is_active: true });
    // Just after a full minute, when the queues are swept: until the relax time no sweep assigns it.
    await app.advanceTime(60_000 - (app.now().getTime() % 60_000));
    await app.call(conversations.assign_conversation, { id, team_id: team.id });
    expect((await get(id)).assigned_to).toBeNull();
    await app.advanceTime(30_000);
    expect((await get(id)).assigned_to).toBe(team.users.Bob);
    const [relaxed] = await decisionsOf(id);
    expect(relaxed).toMatchObject({ trigger: "escalation", outcome: "assigned" });
    expect(relaxed?.explanation).toContain("comes nearest to the skills");
  });

  test("sticky assigns to the last agent, else uses its fallback", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: {}, Bob: {} });
    await createPolicy(team, { strategy: "sticky", settings: { ttl_days: 2, fallback: "round_robin" } });
    const number = nextNumber();
    const id = await write(number);
    const before = (await get(id)).assigned_to;
    await app.call(conversations.unassign_conversation, { id });
    await write(number);
    expect((await get(id)).assigned_to).toBe(before);
    expect((await decisionsOf(id))[0]?.explanation).toContain("who served this contact last");
    await app.call(conversations.unassign_conversation, { id });
    await app.advanceTime(3 * 24 * 3_600_000);
    await write(number);
    expect((await get(id)).assigned_to).not.toBe(before);
  });

  test("a user as the target gets conversations up to their capacity", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 1 }, Bob: {} });
    const target = { target_type: "user", target_id: team.users.Ada } as const;
    await createPolicy(team, { strategy: "round_robin", ...target });
    const [first, second] = [await write(), await write()];
    expect(await get(first)).toMatchObject({ assigned_to: team.users.Ada, team_id: team.id });
    expect(await get(second)).toMatchObject({ assigned_to: null, team_id: team.id });
  });
});
