/** The routing of one customer: by skill, escalation to a higher tier, transfer, and reopening. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { contacts } from "../../tools/contacts.ts";
import { conversations } from "../../tools/conversations.ts";
import { routing } from "../../tools/routing.ts";
import { teams } from "../../tools/teams.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { openPhone } from "../support/simulator.ts";
import { type CreatedTeam, createTeamWithMembers, findWrongChatCounts } from "../support/teams.ts";

let app: TestApp;
beforeEach(async () => {
  app = await startTestApp();
});
afterEach(() => app[Symbol.asyncDispose]());

const get = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;
const latestDecision = async (id: string) => (await app.call(routing.list_routing_decisions, { id })).data[0];

/** Sends a message from a number and returns the conversation one second later. */
async function write(number: string, text: string) {
  const { conversation_id } = await openPhone(app, number).write(text);
  await app.advanceTime(1000);
  return get(conversation_id);
}

test("without routing policies a conversation is open and unassigned, and no decision is recorded", async () => {
  const conversation = await write("+14155550210", "Hello?");
  expect(conversation).toMatchObject({ status: "open", assigned_to: null, team_id: null });
  expect(await latestDecision(conversation.id)).toBeUndefined();
  const { data } = await app.call(conversations.list_conversations, { filter: "unassigned" });
  expect(data.map(({ id }) => id)).toContain(conversation.id);
});

test("a customer is routed by skill, escalated, transferred, reopened, and returned to the last agent", async () => {
  const { desk, experts } = await createTeamsAndPolicies();
  const number = "+14155550211";

  // An unknown number: contact and conversation are created, and the French speaker is chosen.
  const arrived = await write(number, "Bonjour, je suis perdu");
  expect((await app.call(contacts.get_contact, { id: arrived.contact_id })).data.phone_number).toBe(number);
  expect(arrived).toMatchObject({ status: "open", assigned_to: desk.users.Fay, team_id: desk.id });
  const chosen = await latestDecision(arrived.id);
  expect(chosen).toMatchObject({
    trigger: "inbound",
    policy_name: "French",
    strategy: "skills_based",
    candidates: [
      { name: "Ada", passed_over: "lacks_skills" },
      { name: "Fay", passed_over: null },
    ],
  });
  expect(chosen?.explanation).toBe('The policy "French" (by skills) chose Fay, who has the skills fr.');

  // The desk is full for the next one; after the waiting time it goes to the next tier,
  // where an agent is free.
  const second = await write("+14155550212", "Bonjour!");
  expect(second).toMatchObject({ assigned_to: null, team_id: desk.id });
  expect((await latestDecision(second.id))?.explanation).toContain("1 at capacity, 1 without the skills");
  await app.advanceTime(120_000);
  expect(await get(second.id)).toMatchObject({ assigned_to: experts.users.Eve, team_id: experts.id });
  expect(await latestDecision(second.id)).toMatchObject({ trigger: "escalation", outcome: "assigned" });
  expect((await latestDecision(second.id))?.explanation).toContain(
    "in a higher tier, as nobody of Desk was free in time",
  );

  // Fay transfers her conversation to an expert, who closes it.
  const transfer = { id: arrived.id, from_agent: desk.users.Fay ?? "", to_agent: experts.users.Max ?? "" };
  await app.call(conversations.transfer_conversation, { ...transfer, reason: "needs an engineer" });
  expect(await get(arrived.id)).toMatchObject({ assigned_to: experts.users.Max, team_id: experts.id });
  await app.call(conversations.update_conversation, { id: arrived.id, status: "closed" });

  // The customer writes again: the last agent gets the conversation, while there is capacity.
  expect(await write(number, "Encore moi")).toMatchObject({ status: "open", assigned_to: experts.users.Max });
  expect(await latestDecision(arrived.id)).toMatchObject({ trigger: "reopen", outcome: "assigned" });

  // Once more, while Max is unavailable: unassigned, until the sticky policy returns it to Max.
  await app.call(conversations.update_conversation, { id: arrived.id, status: "closed" });
  await setAvailable(experts, "Max", false);
  await deactivatePolicy("French");
  const again = await write(number, "Toujours moi");
  expect(again.assigned_to).toBeNull();
  expect((await latestDecision(arrived.id))?.candidates).toContainEqual(
    expect.objectContaining({ name: "Max", passed_over: "unavailable" }),
  );
  await setAvailable(experts, "Max", true);
  await app.runDueJobs();
  expect((await get(arrived.id)).assigned_to).toBe(experts.users.Max);
  const returned = await latestDecision(arrived.id);
  expect(returned).toMatchObject({ trigger: "capacity", strategy: "sticky", policy_name: "Known customers" });
  expect(returned?.explanation).toContain("chose Max, who served this contact last");

  const { data } = await app.call(conversations.list_assignments, { id: arrived.id });
  expect(data.map(({ assignment_type }) => assignment_type)).toEqual([
    "routing",
    "unassign",
    "transfer",
    "routing",
  ]);
  expect(await findWrongChatCounts(app)).toEqual([]);
});

async function createTeamsAndPolicies() {
  const limited = { max_concurrent_chats: 1 };
  const desk = await createTeamWithMembers(
    app,
    { name: "Desk" },
    { Ada: limited, Fay: { ...limited, skills: ["fr"] } },
  );
  const experts = await createTeamWithMembers(
    app,
    { name: "Experts", tier: 2 },
    { Eve: { ...limited, skills: ["fr"] }, Max: limited },
  );
  await app.call(routing.create_routing_policy, {
    name: "French",
    strategy: "skills_based",
    priority: 10,
    conditions: { attribute: "message.text", operator: "contains", value: "bonjour" },
    target_type: "team",
    target_id: desk.id,
    settings: { required_skills: ["fr"] },
  });
  await app.call(routing.create_routing_policy, {
    name: "Known customers",
    strategy: "sticky",
    conditions: { attribute: "message.text", operator: "contains", value: "moi" },
    target_type: "team",
    target_id: experts.id,
  });
  return { desk, experts };
}

async function setAvailable(team: CreatedTeam, name: string, is_available: boolean): Promise<void> {
  const member_id = team.members[name] ?? "";
  await app.call(teams.update_team_member, { id: team.id, member_id, is_available });
}

async function deactivatePolicy(name: string): Promise<void> {
  const { data } = await app.call(routing.list_routing_policies, {});
  const id = data.find((policy) => policy.name === name)?.id ?? "";
  await app.call(routing.update_routing_policy, { id, is_active: false });
}
