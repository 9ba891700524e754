/** Concurrent routing: many conversations in one process, and several processes that share the agents. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { iterations } from "./support/iterations.ts";
import { serverUrl, withDatabase } from "./support/postgres.ts";
import { useRoutingApp } from "./support/routing.ts";
import { openPhone } from "./support/simulator.ts";
import {
  type CreatedTeam,
  createTeamWithMembers,
  findWrongChatCounts,
  type MemberInput,
} from "./support/teams.ts";

const { app, nextNumber, write, writeMany, createPolicy, get, tally, close, decisionsOf } = useRoutingApp();

/** Opens `count` conversations of new contacts, without routing them. */
async function openConversations(count: number, at: TestApp = app): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push((await openPhone(at, nextNumber()).write("hi")).conversation_id);
  }
  return ids;
}

/** Creates a team, and a policy that assigns all conversations to it. */
async function createTeamWithPolicy(
  members: Record<string, MemberInput>,
  strategy: "round_robin" | "weighted" = "round_robin",
): Promise<CreatedTeam> {
  const team = await createTeamWithMembers(app, {}, members);
  await createPolicy(team, { strategy });
  return team;
}

test("conversations routed together get the same agents as one after the other", {
  tags: "both",
}, async () => {
  const team = await createTeamWithPolicy({
    Ada: { max_concurrent_chats: 2 },
    Bob: { max_concurrent_chats: 1 },
  });
  const ids = await openConversations(5);
  await app.runDueJobs();
  const { Ada, Bob } = team.users;
  expect(await Promise.all(ids.map(async (id) => (await get(id)).assigned_to))).toEqual([
    Ada,
    Bob,
    Ada,
    null,
    null,
  ]);
  const [second = "", third = ""] = ids.slice(1);
  expect((await decisionsOf(second))[0]?.candidates).toMatchObject([
    { name: "Ada", current_chat_count: 1, passed_over: "not_next" },
    { name: "Bob", current_chat_count: 0, passed_over: null },
  ]);
  expect((await decisionsOf(third))[0]?.candidates).toMatchObject([
    { name: "Ada", current_chat_count: 1, passed_over: null },
    { name: "Bob", current_chat_count: 1, passed_over: "at_capacity" },
  ]);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("a contact who writes twice before being routed is routed once", async () => {
  const team = await createTeamWithPolicy({ Ada: {}, Bob: {} });
  const sender = openPhone(app, nextNumber());
  const { conversation_id } = await sender.write("hi");
  await sender.write("hello?");
  await app.runDueJobs();
  expect(await decisionsOf(conversation_id)).toMatchObject([{ assigned_to: team.users.Ada }]);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("as many waiting conversations as there is capacity are assigned together, the oldest first", {
  tags: "both",
}, async () => {
  const team = await createTeamWithPolicy({ Ada: { max_concurrent_chats: 1 } });
  const [served = "", ...waiting] = await openConversations(5);
  await app.runDueJobs();
  const id = team.id;
  await app.call(teams.update_team_member, {
    id,
    member_id: team.members.Ada ?? "",
    max_concurrent_chats: 3,
  });
  await app.runDueJobs();
  const { Ada } = team.users;
  const agents = async () => Promise.all(waiting.map(async (one) => (await get(one)).assigned_to));
  expect(await agents()).toEqual([Ada, Ada, null, null]);
  await close(served);
  await app.runDueJobs();
  expect(await agents()).toEqual([Ada, Ada, Ada, null]);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("a conversation that can't be routed does not block others", async () => {
  const team = await createTeamWithPolicy({ Ada: { max_concurrent_chats: 10 } });
  const [broken = "", ...others] = await openConversations(4);
  const { queries } = app.server.database;
  await sql`alter table assignments add constraint broken check (conversation_id <> ${sql.lit(broken)})`.execute(
    queries,
  );
  await app.runDueJobs();
  await app.advanceTime(2_000);
  expect(await Promise.all(others.map(async (id) => (await get(id)).assigned_to))).toEqual(
    others.map(() => team.users.Ada),
  );
  await sql`alter table assignments drop constraint broken`.execute(queries);
  await app.advanceTime(10_000);
  expect((await get(broken)).assigned_to).toBe(team.users.Ada);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("many concurrent messages exceed no capacity, and round robin stays even", {
  tags: "both",
}, async () => {
  const capacity = { max_concurrent_chats: 4 };
  const team = await createTeamWithMembers(app, {}, { Ada: capacity, Bob: capacity, Cyd: capacity });
  await createPolicy(team, { strategy: "round_robin" });
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
  await createPolicy(team, { strategy: "weighted", settings: { weights } });
  const writing = Array.from({ length: 21 }, () => openPhone(app, nextNumber()).write("hi"));
  const ids = (await Promise.all(writing)).map(({ conversation_id }) => conversation_id);
  await app.runDueJobs();
  expect(await tally(ids, team)).toEqual({ Ada: 16, Bob: 5 });
});

test("deleting a policy while it is used fails no assignment", async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 100 } });
  for (let round = 0; round < iterations(3, 6); round += 1) {
    const policy = await createPolicy(team, { strategy: "weighted" });
    const ids = await writeMany(3);
    await Promise.all([
      ...ids.map((id) => app.call(conversations.assign_conversation, { id, team_id: team.id })),
      app.call(routing.delete_routing_policy, { id: policy.id }),
    ]);
    expect(await tally(ids, team)).toEqual({ Ada: 3 });
  }
});

describe("with other processes on the database", { tags: "postgres" }, () => {
  test("a locked conversation is waited for, and the others are not delayed", async () => {
    const team = await createTeamWithPolicy({ Ada: { max_concurrent_chats: 10 } });
    const [locked = "", ...others] = await openConversations(3);
    const agentOf = async (id: string) => (await get(id)).assigned_to;
    let settled: Promise<void> = Promise.resolve();
    await app.server.database.transaction(async (tx) => {
      await sql`select id from conversations where id = ${locked} for update`.execute(tx);
      settled = app.runDueJobs();
      // It is awaited after the commit.
      settled.catch(() => undefined);
      for (const id of others) {
        await expect.poll(() => agentOf(id)).toBe(team.users.Ada);
      }
      expect(await agentOf(locked)).toBeNull();
    });
    await settled;
    expect(await agentOf(locked)).toBe(team.users.Ada);
  });

  /**
   * Starts a second app on the same database. Its clock shows the same time, so that
   * either runs all due jobs.
   */
  async function openSecond(): Promise<TestApp> {
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(
      app.server.database.queries,
    );
    const url = withDatabase(serverUrl ?? "", rows[0]?.name ?? "");
    return startTestApp({ startsAt: app.now(), env: { DATABASE_URL: url } });
  }

  test("two processes exceed no capacity while agents close conversations", async () => {
    await using second = await openSecond();
    const capacity = { max_concurrent_chats: 3 };
    await createTeamWithPolicy({ Ada: capacity, Bob: capacity, Cyd: capacity, Dan: capacity });
    const { queries } = app.server.database;
    await sql`alter table team_members add constraint within_capacity check (current_chat_count <= max_concurrent_chats)`.execute(
      queries,
    );
    const ids: string[] = [];
    for (let round = 0; round < iterations(3, 6); round += 1) {
      const open = ids.slice(-8);
      const [mine, theirs] = await Promise.all([
        openConversations(5, app),
        openConversations(5, second),
        app.runDueJobs(),
        second.runDueJobs(),
        ...open.map(close),
      ]);
      ids.push(...mine, ...theirs);
    }
    await Promise.all([app.runDueJobs(), second.runDueJobs()]);
    await sql`alter table team_members drop constraint within_capacity`.execute(queries);
    // No job failed, otherwise it would wait for its next attempt.
    const waiting = await sql`select from jobs where name = 'conversation.route'`.execute(queries);
    expect(waiting.rows).toEqual([]);
    expect(await findWrongChatCounts(app)).toEqual([]);
  });

  test("two processes with crossing transfers and closings cause no deadlock, and every count is right", async () => {
    await using second = await openSecond();
    const capacity = { max_concurrent_chats: 20 };
    const team = await createTeamWithPolicy({ Ada: capacity, Bob: capacity, Cyd: capacity }, "weighted");
    const users = Object.values(team.users);
    const ids = await openConversations(6);
    await app.runDueJobs();
    const transferToNext = async (id: string, at: TestApp) => {
      const from_agent = (await get(id)).assigned_to ?? "";
      const to_agent = users[(users.indexOf(from_agent) + 1) % users.length] ?? "";
      await at.call(conversations.transfer_conversation, { id, from_agent, to_agent });
    };
    for (let round = 0; round < iterations(2, 4); round += 1) {
      const [leaving = ""] = ids.splice(0, 1);
      const [mine, theirs] = await Promise.all([
        openConversations(4, app),
        openConversations(4, second),
        app.runDueJobs(),
        second.runDueJobs(),
        ...ids.slice(0, 6).map((id, index) => transferToNext(id, index % 2 ? second : app)),
        close(leaving),
      ]);
      await Promise.all([app.runDueJobs(), second.runDueJobs()]);
      ids.push(...mine, ...theirs);
    }
    expect((await Promise.all(ids.map(get))).filter(({ assigned_to }) => assigned_to === null)).toEqual([]);
    expect(await findWrongChatCounts(app)).toEqual([]);
  });
});

describe("the rows of team members", { tags: "postgres" }, () => {
  /**
   * Locks the first member's row while `run` waits for it; returns whether the second row
   * stays unlocked meanwhile.
   */
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
      // It is awaited after the commit.
      running.catch(() => undefined);
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
