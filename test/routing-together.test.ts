/** Routing many at once: in one process together, and in several that share the agents. */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { withDatabase } from "./support/postgres.ts";
import { openPhone } from "./support/simulator.ts";
import {
  type CreatedTeam,
  createTeamWithMembers,
  findWrongChatCounts,
  type MemberInput,
} from "./support/teams.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

let last = 0;
const nextNumber = () => `+1415556${String(1000 + last++).padStart(4, "0")}`;

/** Messages of so many new contacts, not routed yet. */
async function write(count: number, at: TestApp = app): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push((await openPhone(at, nextNumber()).write("hi")).conversation_id);
  }
  return ids;
}

const get = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;
const close = (id: string) => app.call(conversations.update_conversation, { id, status: "closed" });
const decisionsOf = async (id: string) => (await app.call(routing.list_routing_decisions, { id })).data;

/** The team that is given all that comes from now on. */
async function takeOver(
  members: Record<string, MemberInput>,
  strategy: "round_robin" | "weighted" = "round_robin",
): Promise<CreatedTeam> {
  await app.server.database.queries.deleteFrom("routing_policies").execute();
  const team = await createTeamWithMembers(app, {}, members);
  const target = { target_type: "team", target_id: team.id } as const;
  await app.call(routing.create_routing_policy, { name: "Policy", strategy, ...target });
  return team;
}

test("those that come together get their agents as if they had come one after the other", async () => {
  const team = await takeOver({ Ada: { max_concurrent_chats: 2 }, Bob: { max_concurrent_chats: 1 } });
  const ids = await write(5);
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

test("who writes twice before being routed is routed once", async () => {
  const team = await takeOver({ Ada: {}, Bob: {} });
  const sender = openPhone(app, nextNumber());
  const { conversation_id } = await sender.write("hi");
  await sender.write("hello?");
  await app.runDueJobs();
  expect(await decisionsOf(conversation_id)).toMatchObject([{ assigned_to: team.users.Ada }]);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

test("as many as there is room for are served together, the oldest first", async () => {
  const team = await takeOver({ Ada: { max_concurrent_chats: 1 } });
  const [served = "", ...waiting] = await write(5);
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

test("one that can't be routed keeps no other one from its agent", async () => {
  const team = await takeOver({ Ada: { max_concurrent_chats: 10 } });
  const [broken = "", ...others] = await write(4);
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

describe.runIf(process.env.TIDINGS_TEST_ENGINE === "postgres")("on a database with others", () => {
  test("one that somebody else holds is waited for, and the others are not kept waiting", async () => {
    const team = await takeOver({ Ada: { max_concurrent_chats: 10 } });
    const [held = "", ...others] = await write(3);
    const agentOf = async (id: string) => (await get(id)).assigned_to;
    let settled: Promise<void> = Promise.resolve();
    await app.server.database.transaction(async (tx) => {
      await sql`select id from conversations where id = ${held} for update`.execute(tx);
      settled = app.runDueJobs();
      for (const id of others) {
        await expect.poll(() => agentOf(id)).toBe(team.users.Ada);
      }
      expect(await agentOf(held)).toBeNull();
    });
    await settled;
    expect(await agentOf(held)).toBe(team.users.Ada);
  });

  /** Another process on the same database. */
  async function openSecond(): Promise<TestApp> {
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(
      app.server.database.queries,
    );
    const url = withDatabase(process.env.TEST_DATABASE_URL ?? "", rows[0]?.name ?? "");
    return startTestApp({ env: { DATABASE_URL: url } });
  }

  test("two processes exceed no capacity and keep the round, while agents close what they have", async () => {
    await using second = await openSecond();
    const room = { max_concurrent_chats: 3 };
    await takeOver({ Ada: room, Bob: room, Cyd: room, Dan: room });
    const { queries } = app.server.database;
    await sql`alter table team_members add constraint kept check (current_chat_count <= max_concurrent_chats)`.execute(
      queries,
    );
    const ids: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const open = ids.slice(-8);
      const [mine, theirs] = await Promise.all([
        write(5, app),
        write(5, second),
        app.runDueJobs(),
        second.runDueJobs(),
        ...open.map(close),
      ]);
      ids.push(...mine, ...theirs);
    }
    await Promise.all([app.runDueJobs(), second.runDueJobs()]);
    await sql`alter table team_members drop constraint kept`.execute(queries);
    // Nobody's job failed, or it would wait for its next attempt.
    const late = await sql`select from jobs where name = 'conversation.route'`.execute(queries);
    expect(late.rows).toEqual([]);
    expect(await findWrongChatCounts(app)).toEqual([]);
  });

  test("two processes, transfers that cross, and closing: nobody waits for ever, and every count is right", async () => {
    await using second = await openSecond();
    const room = { max_concurrent_chats: 20 };
    const team = await takeOver({ Ada: room, Bob: room, Cyd: room }, "weighted");
    const users = Object.values(team.users);
    const ids = await write(6);
    await app.runDueJobs();
    const hand = async (id: string, at: TestApp) => {
      const from_agent = (await get(id)).assigned_to ?? "";
      const to_agent = users[(users.indexOf(from_agent) + 1) % users.length] ?? "";
      await at.call(conversations.transfer_conversation, { id, from_agent, to_agent });
    };
    for (let round = 0; round < 4; round += 1) {
      const [leaving = ""] = ids.splice(0, 1);
      const [mine, theirs] = await Promise.all([
        write(4, app),
        write(4, second),
        app.runDueJobs(),
        second.runDueJobs(),
        ...ids.slice(0, 6).map((id, index) => hand(id, index % 2 ? second : app)),
        close(leaving),
      ]);
      await Promise.all([app.runDueJobs(), second.runDueJobs()]);
      ids.push(...mine, ...theirs);
    }
    expect((await Promise.all(ids.map(get))).filter(({ assigned_to }) => assigned_to === null)).toEqual([]);
    expect(await findWrongChatCounts(app)).toEqual([]);
  });
});
