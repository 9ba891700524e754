/** Routing policies: their order, validation and simulation. */
import { describe, expect, test } from "vitest";
import type { InputOf } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { routing } from "../tools/routing.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { useRoutingApp } from "./support/routing.ts";
import { openPhone } from "./support/simulator.ts";
import { createTeamWithMembers } from "./support/teams.ts";

const { app, nextNumber, write, createPolicy, get, decisionsOf } = useRoutingApp();

const simulate = async (conversation_id: string, policy_id?: string) =>
  (await app.call(routing.simulate_routing, { conversation_id, ...(policy_id ? { policy_id } : {}) })).data;

type NewConversation = NonNullable<InputOf<typeof routing.simulate_routing>["new_conversation"]>;
const predict = async (new_conversation: NewConversation) =>
  (await app.call(routing.simulate_routing, { new_conversation })).data;

/** How many rows there are of everything that a new conversation writes. */
async function countStored(): Promise<readonly number[]> {
  const { queries } = app.server.database;
  const tables = ["contacts", "conversations", "messages", "routing_decisions", "assignments"] as const;
  return Promise.all(
    tables.map(async (table) => (await queries.selectFrom(table).select("id").execute()).length),
  );
}

test("the tiers of another organization's teams delay no escalation", async () => {
  const first = await createTeamWithMembers(app, { name: "First", tier: 1 }, {});
  const third = await createTeamWithMembers(app, { name: "Third", tier: 3 }, { Ada: {} });
  const { id: organization, key } = await createOrganizationFor(app, "Other");
  await createTeamWithMembers(app, { name: "Theirs", tier: 2 }, {}, { key, organization });
  await createPolicy(first, { strategy: "round_robin", settings: { escalate_after_seconds: 60 } });
  const id = await write();
  expect((await get(id)).assigned_to).toBeNull();
  await app.advanceTime(90_000);
  expect((await get(id)).assigned_to).toBe(third.users.Ada);
});

describe("policies", () => {
  test("are listed in the order in which they are matched", async () => {
    const team = await createTeamWithMembers(app, {}, {});
    const low = await createPolicy(team, { strategy: "round_robin" });
    const high = await createPolicy(team, { strategy: "sticky", priority: 5 });
    const also = await createPolicy(team, { strategy: "weighted", priority: 5 });
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
    const failure = await expectFailure(createPolicy(null, { strategy: "weighted", settings }));
    expect(failure).toMatchObject({ status: 400, code: "invalid_request" });
    expect(failure.error).toMatchObject({ param });
  });

  test("with an unknown attribute in a condition are rejected with its place", async () => {
    const conditions = { attribute: "conversation.mood", operator: "eq", value: "bad" };
    const failure = await expectFailure(createPolicy(null, { strategy: "sticky", conditions }));
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
    await createPolicy(rest, { strategy: "round_robin" });
    await createPolicy(vip, { strategy: "round_robin", priority: 1, conditions });
    const { conversation_id: urgent } = await openPhone(app, nextNumber()).write("This is URGENT");
    const plain = await write();
    expect((await get(urgent)).assigned_to).toBe(vip.users.Vera);
    expect((await get(plain)).assigned_to).toBe(rest.users.Rob);
  });

  test("record once that none of them matches", async () => {
    const conditions = { attribute: "conversation.tags", operator: "has_any", value: ["vip"] };
    await createPolicy(null, { strategy: "round_robin", conditions });
    const number = nextNumber();
    const id = await write(number);
    await write(number);
    const decisions = await decisionsOf(id);
    expect(decisions).toMatchObject([{ outcome: "unmatched", trigger: "inbound", candidates: [] }]);
    expect(decisions[0]?.explanation).toContain("is not for this conversation");
  });
});

describe("simulate", () => {
  test("changes nothing, and returns the decision that would follow", async () => {
    const team = await createTeamWithMembers(app, {}, { Ada: {}, Bob: { is_available: false } });
    const id = await write();
    await createPolicy(team, { strategy: "round_robin" });
    const simulated = await simulate(id);
    expect(simulated).toEqual(await simulate(id));
    expect(await decisionsOf(id)).toEqual([]);
    expect((await get(id)).assigned_to).toBeNull();
    await app.call(conversations.assign_conversation, { id, team_id: team.id });
    const [decision] = await decisionsOf(id);
    expect(decision).toMatchObject(simulated);
  });

  test("predicts where a new conversation goes by its text, tags, inbox and contact, and stores nothing", async () => {
    const support = await createTeamWithMembers(app, {}, { Ada: {}, Bob: {} });
    const sales = await createTeamWithMembers(app, {}, { Cleo: {} });
    const inbox = await app.call(inboxes.create_inbox, { name: "Sales", phone_number: "+14155550990" });
    const when = (attribute: string, operator: string, value: unknown) => ({ attribute, operator, value });
    await createPolicy(support, { strategy: "sticky" });
    await createPolicy(sales, {
      strategy: "round_robin",
      priority: 1,
      conditions: {
        or: [
          when("message.text", "contains", "price"),
          when("conversation.tags", "has_any", ["vip"]),
          when("conversation.inbox_id", "eq", inbox.data.id),
          when("country", "eq", "DE"),
        ],
      },
    });
    const before = await countStored();
    const agentOf = async (described: NewConversation) => (await predict(described)).assigned_to;
    expect(await agentOf({ text: "What is the PRICE?" })).toBe(sales.users.Cleo);
    expect(await agentOf({ tags: ["VIP"] })).toBe(sales.users.Cleo);
    expect(await agentOf({ inbox_id: inbox.data.id })).toBe(sales.users.Cleo);
    expect(await agentOf({ from: "+4915123456789" })).toBe(sales.users.Cleo);
    const predicted = await predict({ text: "Hello" });
    expect(predicted).toMatchObject({
      outcome: "assigned",
      conversation_id: null,
      assigned_to: support.users.Ada,
    });
    expect(await countStored()).toEqual(before);

    const number = nextNumber();
    const [decision] = await decisionsOf(await write(number));
    expect(decision).toMatchObject({ ...predicted, conversation_id: expect.any(String) });
    // The contact is known by now, and Ada served it last.
    expect((await predict({ from: number })).explanation).toContain("who served this contact last");
    expect(await agentOf({})).toBe(support.users.Bob);
  });

  test("predicts at a time when a member is away", async () => {
    const at = new Date(app.now().getTime() + 3_600_000).toISOString();
    const until = new Date(app.now().getTime() + 7_200_000).toISOString();
    const absence = { unavailable_from: at, unavailable_until: until };
    const team = await createTeamWithMembers(app, {}, { Ada: absence });
    await createPolicy(team, { strategy: "round_robin" });
    expect(await predict({})).toMatchObject({ outcome: "assigned", assigned_to: team.users.Ada });
    expect(await predict({ at })).toMatchObject({
      outcome: "queued",
      assigned_to: null,
      candidates: [{ name: "Ada", passed_over: "unavailable" }],
    });
  });

  test("rejects another organization's inbox, and both or neither of the two inputs", async () => {
    const { key } = await createOrganizationFor(app, "Stranger");
    const { data } = await app.call(
      inboxes.create_inbox,
      { name: "Theirs", phone_number: "+14155550991" },
      { key },
    );
    expect(await expectFailure(predict({ inbox_id: data.id }))).toMatchObject({
      status: 404,
      code: "inbox_not_found",
    });
    const input = { conversation_id: await write(), new_conversation: {} };
    for (const wrong of [{}, input]) {
      const failure = await expectFailure(app.call(routing.simulate_routing, wrong));
      expect(failure).toMatchObject({ status: 400, code: "invalid_request" });
      expect(failure.error).toMatchObject({ param: "conversation_id" });
    }
  });

  test("without a policy says that there is none", async () => {
    expect(await simulate(await write())).toMatchObject({
      outcome: "unmatched",
      explanation: "There is no active routing policy.",
    });
  });
});
