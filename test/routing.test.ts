/** Routing: who is chosen, why, and what waits. */
import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { users } from "../tools/users.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone } from "./support/simulator.ts";
import {
  type CreatedTeam,
  createTeamWithMembers,
  findWrongChatCounts,
  insertAgent,
} from "./support/teams.ts";

const app = useTestApp();
afterEach(async () => {
  const { queries } = app.server.database;
  await queries.deleteFrom("routing_policies").execute();
  await queries.updateTable("conversations").set({ team_id: null, queued_at: null }).execute();
  await queries.deleteFrom("teams").execute();
});

let last = 0;
const nextNumber = () => `+1415555${String(1000 + last++).padStart(4, "0")}`;

/** Writes from a number, a new one by default, runs the routing, and returns the conversation's id. */
async function write(number = nextNumber()): Promise<string> {
  const { conversation_id } = await openPhone(app, number).write("hi");
  await app.runDueJobs();
  return conversation_id;
}

const get = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;
const close = (id: string) => app.call(conversations.update_conversation, { id, status: "closed" });
const decisionsOf = async (id: string) => (await app.call(routing.list_routing_decisions, { id })).data;
const simulate = async (conversation_id: string, policy_id?: string) =>
  (await app.call(routing.simulate_routing, { conversation_id, ...(policy_id ? { policy_id } : {}) })).data;

type Policy = Parameters<typeof create>[1];
async function create(
  team: CreatedTeam | null,
  policy: { strategy: "round_robin" | "weighted" | "load_balanced" | "skills_based" | "sticky" } & object,
) {
  const target = { target_type: "team", ...(team ? { target_id: team.id } : {}) } as const;
  const input = { name: "Policy", ...target, ...policy };
  return (await app.call(routing.create_routing_policy, input)).data;
}

/** Counts these conversations by agent name. */
async function tally(ids: readonly string[], team: CreatedTeam) {
  const names = Object.fromEntries(Object.entries(team.users).map(([name, id]) => [id, name]));
  const counts: Record<string, number> = {};
  for (const id of ids) {
    const name = names[(await get(id)).assigned_to ?? ""] ?? "unassigned";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function writeMany(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push(await write());
  }
  return ids;
}

describe("policies", () => {
  test("are listed in the order in which they are matched", async () => {
    const team = await createTeamWithMembers(app, {}, {});
    const low = await create(team, { strategy: "round_robin" });
    const high = await create(team, { strategy: "sticky", priority: 5 } as Policy);
    const also = await create(team, { strategy: "weighted", priority: 5 } as Policy);
    const { data } = await app.call(routing.list_routing_policies, {});
    expect(data.map(({ id }) => id)).toEqual([high.id, also.id, low.id]);
    expect((await app.call(routing.get_routing_policy, { id: low.id })).data).toEqual(low);
    await app.call(routing.delete_routing_policy, { id: low.id });
    expect(await expectFailure(app.call(routing.get_routing_policy, { id: low.id }))).toMatchObject({
      status: 404,
      code: "routing_policy_not_found",
    });
  });

  test.each([
    [{ weights: { usr_a: 0 } }, "settings.weights.usr_a"],
    [{ weights: { usr_a: 1.5 } }, "settings.weights.usr_a"],
    [{ weights: { usr_a: 101 } }, "settings.weights.usr_a"],
    [{ required_skills: "fr" }, "settings.required_skills"],
    [{ ttl_days: 0 }, "settings.ttl_days"],
    [{ fallback: "sticky" }, "settings.fallback"],
    [{ escalate_after_seconds: "soon" }, "settings.escalate_after_seconds"],
  ])("with the settings %j are rejected with the field %s", async (settings, param) => {
    const failure = await expectFailure(create(null, { strategy: "weighted", settings } as Policy));
    expect(failure).toMatchObject({ status: 400, code: "invalid_request" });
    expect(failure.error).toMatchObject({ param });
  });

  test("with an unknown attribute in a condition are rejected with its place", async () => {
    const conditions = { attribute: "conversation.mood", operator: "eq", value: "bad" };
    const failure = await expectFailure(create(null, { strategy: "sticky", conditions } as Policy));
    expect(failure).toMatchObject({ status: 400, code: "unknown_attribute" });
    expect(failure.error).toMatchObject({ param: "conditions.attribute" });
  });

  test("for an unknown target are rejected", async () => {
    const input = { name: "x", strategy: "sticky", target_id: "none" } as const;
    const call = (target_type: "team" | "user") =>
      expectFailure(app.call(routing.create_routing_policy, { ...input, target_type }));
    expect(await call("team")).toMatchObject({ status: 404, code: "team_not_found" });
    expect(await call("user")).toMatchObject({ status: 404, code: "user_not_found" });
  });

  test("of the highest priority apply first, and only if their conditions match", async () => {
    const [vip, rest] = [
      await createTeamWithMembers(app, {}, { Vera: {} }),
      await createTeamWithMembers(app, {}, { Rob: {} }),
    ];
    const conditions = { attribute: "message.text", operator: "contains", value: "urgent" };
    await create(rest, { strategy: "round_robin" });
    await create(vip, { strategy: "round_robin", priority: 1, conditions } as Policy);
    const { conversation_id: urgent } = await openPhone(app, nextNumber()).write("This is URGENT");
    const plain = await write();
    expect((await get(urgent)).assigned_to).toBe(vip.users.Vera);
    expect((await get(plain)).assigned_to).toBe(rest.users.Rob);
  });

  test("record once that none of them matches", async () => {
    const conditions = { attribute: "conversation.tags", operator: "has_any", value: ["vip"] };
    await create(null, { strategy: "round_robin", conditions } as Policy);
    const number = nextNumber();
    const id = await write(number);
    await write(number);
    const decisions = await decisionsOf(id);
    expect(decisions).toMatchObject([{ outcome: "unmatched", trigger: "inbound", candidates: [] }]);
    expect(decisions[0]?.explanation).toContain("is not for this conversation");
  });
});

describe("strategies", () => {
  test("round robin assigns in turn, and skips unavailable agents", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: {}, Bob: {}, Cyd: {} });
    await create(team, { strategy: "round_robin" });
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
    await create(team, { strategy: "weighted", settings: { weights } } as Policy);
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
    await create(team, { strategy: "load_balanced" });
    expect(await tally(await writeMany(8), team)).toEqual({ Small: 2, Large: 6 });
  });

  test("required skills come from the policy and the tags; after the relax time the closest agent is chosen", async () => {
    const team = await createTeamWithMembers(
      app,
      {},
      { Ada: { skills: ["fr"] }, Bob: { skills: ["fr", "tax"] }, Cyd: { skills: ["tax", "de"] } },
    );
    const settings = { required_skills: ["tax"], relax_after_seconds: 60 };
    const policy = await create(team, { strategy: "skills_based", settings, is_active: false } as Policy);
    const id = await write();
    await app.call(conversations.update_conversation, { id, add_tags: ["skill:fr"] });
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
    await app.call(conversations.assign_conversation, { id, team_id: team.id });
    expect((await get(id)).assigned_to).toBeNull();
    await app.advanceTime(60_000);
    expect([team.users.Bob, team.users.Cyd]).toContain((await get(id)).assigned_to);
    const [relaxed] = await decisionsOf(id);
    expect(relaxed).toMatchObject({ trigger: "escalation", outcome: "assigned" });
    expect(relaxed?.explanation).toContain("comes nearest to the skills");
  });

  test("sticky assigns to the last agent, else uses its fallback", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: {}, Bob: {} });
    await create(team, { strategy: "sticky", settings: { ttl_days: 2, fallback: "round_robin" } } as Policy);
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
    await create(team, { strategy: "round_robin", ...target } as Policy);
    const [first, second] = [await write(), await write()];
    expect(await get(first)).toMatchObject({ assigned_to: team.users.Ada, team_id: team.id });
    expect(await get(second)).toMatchObject({ assigned_to: null, team_id: team.id });
  });
});

describe("without a free agent", () => {
  test("conversations wait, and the oldest is assigned first", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 1 } });
    await create(team, { strategy: "round_robin" });
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
    await create(team, { strategy: "round_robin" });
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
    await create(team, { strategy: "skills_based", priority: 1, conditions, settings } as Policy);
    await create(team, { strategy: "round_robin" });
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
    await create(first, { strategy: "round_robin", settings: { escalate_after_seconds: 60 } } as Policy);
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
    await create(team, { strategy: "round_robin", settings: { requeue_after_seconds: 300 } } as Policy);
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

test("deleting a policy while it is used fails no assignment", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 100 } });
  for (let round = 0; round < 6; round += 1) {
    const policy = await create(team, { strategy: "weighted" });
    const ids = await writeMany(3);
    await Promise.all([
      ...ids.map((id) => app.call(conversations.assign_conversation, { id, team_id: team.id })),
      app.call(routing.delete_routing_policy, { id: policy.id }),
    ]);
    expect(await tally(ids, team)).toEqual({ Ada: 3 });
  }
});

test("a conversation that can't be requeued does not block others", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: {}, Bob: {} });
  await create(team, { strategy: "round_robin", settings: { requeue_after_seconds: 60 } } as Policy);
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

describe.runIf(process.env.TIDINGS_TEST_ENGINE === "postgres")("the rows of team members", () => {
  /** Locks the first member's row while `run` waits for it; returns whether the second row stays unlocked meanwhile. */
  async function leavesSecondRowUnlocked([first, second]: readonly string[], run: () => Promise<unknown>) {
    const { database } = app.server;
    const lock = (user = "") =>
      sql`select id from team_members where user_id = ${user} for update skip locked`;
    const waiting = sql`
      select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `;
    let running: Promise<unknown> = Promise.resolve();
    const unlocked = await database.transaction(async (tx) => {
      await lock(first).execute(tx);
      running = run();
      await expect.poll(async () => (await waiting.execute(database.queries)).rows.length).toBe(1);
      return lock(second).execute(tx);
    });
    await running;
    return unlocked.rows.length === 1;
  }

  test("are locked in one order, so that concurrent moves can't deadlock", async () => {
    const here = await createTeamWithMembers(app, {}, { Ada: {} });
    const there = await createTeamWithMembers(app, {}, { Zoe: {} });
    const [ada = "", zoe = ""] = [here.users.Ada, there.users.Zoe];
    const id = await write();
    await app.call(conversations.assign_conversation, { id, assigned_to: ada });
    const transfer = (from_agent: string, to_agent: string) =>
      app.call(conversations.transfer_conversation, { id, from_agent, to_agent });
    const assign = (team_id: string) => app.call(conversations.assign_conversation, { id, team_id });
    for (const move of [
      () => transfer(ada, zoe),
      () => transfer(zoe, ada),
      () => assign(there.id),
      () => assign(here.id),
    ]) {
      expect(await leavesSecondRowUnlocked([ada, zoe], move)).toBe(true);
    }
    expect((await get(id)).assigned_to).toBe(ada);
    expect(await findWrongChatCounts(app)).toEqual([]);
  });
});

describe("simulate", () => {
  test("changes nothing, and returns the decision that would follow", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: {}, Bob: { is_available: false } });
    const id = await write();
    await create(team, { strategy: "round_robin" });
    const simulated = await simulate(id);
    expect(simulated).toEqual(await simulate(id));
    expect(await decisionsOf(id)).toEqual([]);
    expect((await get(id)).assigned_to).toBeNull();
    await app.call(conversations.assign_conversation, { id, team_id: team.id });
    const [decision] = await decisionsOf(id);
    expect(decision).toMatchObject(simulated);
  });

  test("without a policy says that there is none", async () => {
    expect(await simulate(await write())).toMatchObject({
      outcome: "unmatched",
      explanation: "There is no active routing policy.",
    });
  });
});

test("many concurrent messages exceed no capacity, and round robin stays even", async () => {
  const capacity = { max_concurrent_chats: 4 };
  const team = await createTeamWithMembers(app, {}, { Ada: capacity, Bob: capacity, Cyd: capacity });
  await create(team, { strategy: "round_robin" });
  const writing = Array.from({ length: 20 }, () => openPhone(app, nextNumber()).write("hi"));
  const ids = (await Promise.all(writing)).map(({ conversation_id }) => conversation_id);
  await app.runDueJobs();
  expect(await tally(ids, team)).toEqual({ Ada: 4, Bob: 4, Cyd: 4, unassigned: 8 });
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("many concurrent messages are distributed by weight, within one", async () => {
  const capacity = { max_concurrent_chats: 100 };
  const team = await createTeamWithMembers(app, {}, { Ada: capacity, Bob: capacity });
  const weights = { [team.users.Ada ?? ""]: 3 };
  await create(team, { strategy: "weighted", settings: { weights } } as Policy);
  const writing = Array.from({ length: 21 }, () => openPhone(app, nextNumber()).write("hi"));
  const ids = (await Promise.all(writing)).map(({ conversation_id }) => conversation_id);
  await app.runDueJobs();
  const { Ada = 0, Bob = 0 } = await tally(ids, team);
  expect(Ada + Bob).toBe(21);
  expect(Math.abs(Ada - (21 * 3) / 4)).toBeLessThanOrEqual(1);
});
