/** The routing queue: who waits, who is assigned next, escalation to further tiers, and requeueing. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { DatabaseTransaction } from "../src/database/database.ts";
import { connectModules, type World } from "../src/platform/foundation/kernel/index.ts";
import { activePolicies, matchPolicies, readFacts } from "../src/platform/inbox/routing/index.ts";
import { modules } from "../src/platform/index.ts";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { users } from "../tools/users.ts";
import { silentLog } from "./support/app.ts";
import { createFlowHelpers, type NewNode } from "./support/flows.ts";
import { commitWhenWaiting } from "./support/locks.ts";
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

  test("a policy that a flow chose stays at each escalation", async () => {
    const team = await createTeamWithMembers(app, { name: "First" }, {});
    await createTeamWithMembers(app, { name: "Second", tier: 2 }, {});
    await createTeamWithMembers(app, { name: "Third", tier: 3 }, {});
    const policy = { strategy: "round_robin", settings: { escalate_after_seconds: 60 } } as const;
    const conditions = { attribute: "name", operator: "eq", value: "nobody" };
    const chosen = await createPolicy(team, { ...policy, name: "Chosen", conditions });
    const assign: NewNode = { id: "a", node_type: "assign", action_config: { policy: chosen.id } };
    const flow = await createFlowHelpers(app).create([assign], { trigger_keyword: "hi" });
    const id = await write();
    await createPolicy(team, { ...policy, name: "Matching" });
    await app.advanceTime(60_000);
    await app.advanceTime(60_000);
    const decisions = await decisionsOf(id);
    expect(decisions.map(({ trigger, policy_name }) => `${trigger} ${policy_name}`)).toEqual([
      "escalation Chosen",
      "escalation Chosen",
      "assign Chosen",
      "inbound null",
    ]);
    await app.call(flows.delete_flow, { id: flow.id });
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

test("a conversation that is transferred to a present agent during the sweep is not requeued", {
  tags: "postgres",
}, async () => {
  const team = await createTeamWithMembers(app, {}, { Ada: {}, Bob: { is_available: false } });
  await createPolicy(team, { strategy: "round_robin", settings: { requeue_after_seconds: 300 } });
  const id = await write();
  const { Ada: from_agent = "", Bob: to_agent = "" } = team.users;
  const set = (name: string, is_available: boolean) => {
    const member_id = team.members[name] ?? "";
    return app.call(teams.update_team_member, { id: team.id, member_id, is_available });
  };
  await set("Ada", false);
  await set("Bob", true);
  await app.advanceTime(299_000);
  const lockMembers = (tx: DatabaseTransaction) =>
    tx.selectFrom("team_members").selectAll().where("team_id", "=", team.id).forUpdate().execute();
  await commitWhenWaiting(app, lockMembers, [
    () => app.call(conversations.transfer_conversation, { id, from_agent, to_agent }),
    () => app.advanceTime(60_000),
  ]);
  expect((await get(id)).assigned_to).toBe(to_agent);
  expect((await decisionsOf(id)).map(({ trigger }) => trigger)).toEqual(["inbound"]);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

describe("a user who is switched off", () => {
  /** Queues conversations of a team, more than one run looks at. */
  async function queueMany(team_id: string): Promise<void> {
    await sql`
      with one as (select * from conversations order by id desc limit 1), contact as (
        insert into contacts (organization_id, id, metadata, created_at, updated_at)
        select organization_id, 'con_queued_' || number, '{}', created_at, updated_at
        from one, generate_series(1, 150) as number
        returning organization_id, id
      )
      insert into conversations (organization_id, id, inbox_id, contact_id, status, team_id, queued_at, created_at, updated_at)
      select organization_id, 'conv_' || contact.id, one.inbox_id, contact.id, 'open', ${team_id}, one.created_at,
        one.created_at, one.updated_at
      from one join contact using (organization_id)
    `.execute(app.server.database.queries);
  }

  test("gets nothing, costs no search of the queue, and does not block others", async () => {
    const idle = await createTeamWithMembers(app, { name: "Idle" }, { Ada: {} });
    const busy = await createTeamWithMembers(app, { name: "Busy" }, { Bob: { max_concurrent_chats: 1 } });
    await createPolicy(busy, { strategy: "round_robin" });
    const served = await write();
    const waiting = await write();
    await app.call(users.update_user, { id: idle.users.Ada ?? "", is_active: false });
    await queueMany(idle.id);
    await app.runDueJobs();
    const member_id = idle.members.Ada ?? "";
    await app.call(teams.update_team_member, { id: idle.id, member_id, max_concurrent_chats: 20 });
    // One run, which finds no free agent; a search of the whole queue takes two.
    expect(await app.server.jobs.runDue()).toBe(1);
    await close(served);
    await app.runDueJobs();
    expect((await get(waiting)).assigned_to).toBe(busy.users.Bob);
    const { rows } = await sql`
      select from conversations where team_id = ${idle.id} and assigned_to is not null
    `.execute(app.server.database.queries);
    expect(rows).toEqual([]);
  });
});

test("conditions are evaluated with two queries for all conversations, of contacts and of messages", async () => {
  const conditions = { attribute: "message.text", operator: "contains", value: "number 7" };
  const ids: string[] = [];
  for (let number = 0; number < 10; number += 1) {
    ids.push((await openPhone(app, nextNumber()).write(`number ${number}`)).conversation_id);
  }
  const { queries } = app.server.database;
  const rows = await queries.selectFrom("conversations").selectAll().where("id", "in", ids).execute();
  const organization = rows[0]?.organization_id ?? "";
  await createPolicy(null, { strategy: "round_robin", conditions });
  const policies = await activePolicies(queries, organization);
  let count = 0;
  const counted = queries.withPlugin({
    transformQuery({ node }) {
      count += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const { hooks } = connectModules(Object.values(modules), {
    database: { queries } as World["database"], // the record writes nothing here
    now: app.now,
    log: silentLog,
  });
  const facts = await readFacts({ db: counted, world: { hooks } }, rows, policies);
  expect(count).toBe(2);
  const matching = rows.filter(
    (conversation) => matchPolicies(facts, { conversation, policies, now: app.now() }).length > 0,
  );
  expect(matching.map(({ id }) => facts.get(id)?.message)).toEqual([{ type: "text", text: "number 7" }]);
});
