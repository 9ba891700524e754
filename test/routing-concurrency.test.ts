/** Concurrent routing: many conversations in one process, and several processes that share the agents. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { withDatabase } from "./support/postgres.ts";
import { openPhone } from "./support/simulator.ts";
import {
  type CreatedTeam,
  createTeamWithMembers,
  findWrongChatCounts,
  type MemberInput,
} from "./support/teams.ts";

const app = useTestApp();

let last = 0;
const nextNumber = () => `+1415556${String(1000 + last++).padStart(4, "0")}`;

/** Opens `count` conversations of new contacts, without routing them. */
async function openConversations(count: number, at: TestApp = app): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push((await openPhone(at, nextNumber()).write("hi")).conversation_id);
  }
  return ids;
}

const get = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;
const close = (id: string) => app.call(conversations.update_conversation, { id, status: "closed" });
const decisionsOf = async (id: string) => (await app.call(routing.list_routing_decisions, { id })).data;

/** Creates a team that gets all new conversations from now on. */
async function createOnlyTeam(
  members: Record<string, MemberInput>,
  strategy: "round_robin" | "weighted" = "round_robin",
): Promise<CreatedTeam> {
  await app.server.database.queries.deleteFrom("routing_policies").execute();
  const team = await createTeamWithMembers(app, {}, members);
  const target = { target_type: "team", target_id: team.id } as const;
  await app.call(routing.create_routing_policy, { name: "Policy", strategy, ...target });
  return team;
}

test("conversations routed together get the same agents as one after the other", async () => {
  const team = await createOnlyTeam({ Ada: { max_concurrent_chats: 2 }, Bob: { max_concurrent_chats: 1 } });
  const ids = await openConversations(5);
  await app.runDueJobs();
  const { Ada, Bob } = team.users;
  expect(await Promise.all(ids.map(async (id) => (await get(id)).assigned_to))).toEqual([
    ...[Ada, Bob, Ada],
    ...[null, null],
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
  const team = await createOnlyTeam({ Ada: {}, Bob: {} });
  const sender = openPhone(app, nextNumber());
  const { conversation_id } = await sender.write("hi");
  await sender.write("hello?");
  await app.runDueJobs();
  expect(await decisionsOf(conversation_id)).toMatchObject([{ assigned_to: team.users.Ada }]);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("as many waiting conversations as there is capacity are assigned together, the oldest first", async () => {
  const team = await createOnlyTeam({ Ada: { max_concurrent_chats: 1 } });
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
  const team = await createOnlyTeam({ Ada: { max_concurrent_chats: 10 } });
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

describe.runIf(process.env.TIDINGS_TEST_ENGINE === "postgres")("with other processes on the database", () => {
  test("a locked conversation is waited for, and the others are not delayed", async () => {
    const team = await createOnlyTeam({ Ada: { max_concurrent_chats: 10 } });
    const [locked = "", ...others] = await openConversations(3);
    const agentOf = async (id: string) => (await get(id)).assigned_to;
    let settled: Promise<void> = Promise.resolve();
    await app.server.database.transaction(async (tx) => {
      await sql`select id from conversations where id = ${locked} for update`.execute(tx);
      settled = app.runDueJobs();
      for (const id of others) {
        await expect.poll(() => agentOf(id)).toBe(team.users.Ada);
      }
      expect(await agentOf(locked)).toBeNull();
    });
    await settled;
    expect(await agentOf(locked)).toBe(team.users.Ada);
  });

  /** Starts a second app on the same database. */
  async function openSecond(): Promise<TestApp> {
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(
      app.server.database.queries,
    );
    const url = withDatabase(process.env.TEST_DATABASE_URL ?? "", rows[0]?.name ?? "");
    return startTestApp({ env: { DATABASE_URL: url } });
  }

  test("two processes exceed no capacity while agents close conversations", async () => {
    await using second = await openSecond();
    const capacity = { max_concurrent_chats: 3 };
    await createOnlyTeam({ Ada: capacity, Bob: capacity, Cyd: capacity, Dan: capacity });
    const { queries } = app.server.database;
    await sql`alter table team_members add constraint within_capacity check (current_chat_count <= max_concurrent_chats)`.execute(
      queries,
    );
    const ids: string[] = [];
    for (let round = 0; round < 6; round += 1) {
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
    const team = await createOnlyTeam({ Ada: capacity, Bob: capacity, Cyd: capacity }, "weighted");
    const users = Object.values(team.users);
    const ids = await openConversations(6);
    await app.runDueJobs();
    const transferToNext = async (id: string, at: TestApp) => {
      const from_agent = (await get(id)).assigned_to ?? "";
      const to_agent = users[(users.indexOf(from_agent) + 1) % users.length] ?? "";
      await at.call(conversations.transfer_conversation, { id, from_agent, to_agent });
    };
    for (let round = 0; round < 4; round += 1) {
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
