/**
 * Teams that have no agent for a conversation: queues that a new member is given, absences,
 * and what warns of both.
 */
import { describe, expect, test } from "vitest";
import { chatbot } from "../tools/chatbot.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { useRoutingApp } from "./support/routing.ts";
import { createTeamWithMembers, findWrongChatCounts, insertAgent } from "./support/teams.ts";

const { app, write, createPolicy, get } = useRoutingApp();
const hour = 3_600_000;

async function addMember(team_id: string, input: object = {}) {
  const user_id = await insertAgent(app, "Ada");
  const base = { id: team_id, user_id, role: "member" } as const;
  return (await app.call(teams.add_team_member, { ...base, ...input })).data;
}

const tag = (id: string, name: string) =>
  app.call(conversations.update_conversation, { id, add_tags: [name] });
const contextOf = async (id: string) => (await app.call(messages.get_conversation_context, { id })).data;
const codes = (warnings: readonly { code: string }[]) => warnings.map(({ code }) => code);
const at = (ms: number) => new Date(app.now().getTime() + ms).toISOString();

describe("a new member", () => {
  test("gets waiting conversations at once, and the answer says how many", async () => {
    const team = await createTeamWithMembers(app, {}, {});
    await createPolicy(team, { strategy: "round_robin" });
    const ids = [await write(), await write(), await write()];
    const member = await addMember(team.id, { max_concurrent_chats: 2 });
    expect(member).toMatchObject({ assigned_from_queue: 2, current_chat_count: 2, warnings: [] });
    const assigned = [];
    for (const id of ids) {
      assigned.push((await get(id)).assigned_to);
    }
    expect(assigned).toEqual([member.user_id, member.user_id, null]);
    expect(await findWrongChatCounts(app)).toEqual([]);
  });

  test("gets only what a new conversation would bring: policies and skills hold for the queue", async () => {
    const team = await createTeamWithMembers(app, {}, {});
    await createPolicy(team, { strategy: "round_robin" });
    const [spanish, other] = [await write(), await write()];
    await tag(spanish, "spanish");
    await createPolicy(team, {
      name: "Spanish",
      strategy: "skills_based",
      priority: 10,
      settings: { required_skills: ["es"] },
      conditions: { attribute: "conversation.tags", operator: "has_any", value: ["spanish"] },
    });
    const member = await addMember(team.id, { skills: ["en"] });
    expect(member.assigned_from_queue).toBe(1);
    expect((await get(spanish)).assigned_to).toBeNull();
    expect((await get(other)).assigned_to).toBe(member.user_id);
    const speaker = await addMember(team.id, { skills: ["es"] });
    expect([speaker.assigned_from_queue, (await get(spanish)).assigned_to]).toEqual([1, speaker.user_id]);
  });

  test("does not take a conversation that a person gave to another policy's queue", async () => {
    const [first, second] = [
      await createTeamWithMembers(app, { name: "First" }, {}),
      await createTeamWithMembers(app, { name: "Second" }, {}),
    ];
    await createPolicy(first, { strategy: "round_robin" });
    const id = await write();
    await app.call(conversations.assign_conversation, { id, team_id: second.id });
    expect((await addMember(first.id)).assigned_from_queue).toBe(0);
    expect((await addMember(second.id)).assigned_from_queue).toBe(1);
  });
});

describe("a member who is away", () => {
  test("gets no conversation in that time, and those that waited after it", async () => {
    const team = await createTeamWithMembers(app, {}, {});
    await createPolicy(team, { strategy: "round_robin" });
    const absence = { unavailable_from: at(hour), unavailable_until: at(2 * hour) };
    const member = await addMember(team.id, absence);
    expect(member).toMatchObject({ is_available: true, ...absence });
    expect((await get(await write())).assigned_to).toBe(member.user_id);
    await app.advanceTime(hour);
    const id = await write();
    expect((await get(id)).assigned_to).toBeNull();
    expect((await contextOf(id)).waiting_reason).toBe(
      'The policy "Policy" (in turn) found nobody free (1 unavailable): it waits in the queue of Support.',
    );
    await app.advanceTime(hour + 60_000);
    expect((await get(id)).assigned_to).toBe(member.user_id);
    expect((await contextOf(id)).waiting_reason).toBeNull();
  });

  test("is away from now on with an end alone, and back when the end is removed", async () => {
    const team = await createTeamWithMembers(app, {}, {});
    await createPolicy(team, { strategy: "round_robin" });
    const { id: member_id, user_id } = await addMember(team.id, { unavailable_until: at(hour) });
    const id = await write();
    expect((await get(id)).assigned_to).toBeNull();
    await app.call(teams.update_team_member, { id: team.id, member_id, unavailable_until: null });
    await app.runDueJobs();
    expect((await get(id)).assigned_to).toBe(user_id);
  });

  test("loses an unanswered conversation after the policy's time", async () => {
    const team = await createTeamWithMembers(app, {}, { Ben: {} });
    await createPolicy(team, { strategy: "round_robin", settings: { requeue_after_seconds: 60 } });
    const id = await write();
    expect((await get(id)).assigned_to).toBe(team.users.Ben);
    const member_id = team.members.Ben ?? "";
    await app.call(teams.update_team_member, { id: team.id, member_id, unavailable_from: at(0) });
    await app.advanceTime(2 * 60_000);
    expect((await get(id)).assigned_to).toBeNull();
  });

  // The times in hours from now; undefined: none.
  const begins = [undefined, -2, 0, 1];
  const ends = [undefined, -1, 0, 2];
  const absences = begins
    .flatMap((from) => ends.map((until) => ({ from, until })))
    .filter(({ from, until }) => from === undefined || until === undefined || from < until);

  test.each(absences)(
    "from $from to $until is away for the routing and for the team's warnings",
    async ({ from, until }) => {
      const isAway =
        (from !== undefined || until !== undefined) && (from ?? 0) <= 0 && (until === undefined || until > 0);
      const team = await createTeamWithMembers(app, {}, {});
      await createPolicy(team, { strategy: "round_robin" });
      const member = await addMember(team.id, {
        unavailable_from: from === undefined ? null : at(from * hour),
        unavailable_until: until === undefined ? null : at(until * hour),
      });
      expect((await get(await write())).assigned_to).toBe(isAway ? null : member.user_id);
      const { data } = await app.call(teams.get_team, { id: team.id });
      expect(codes(data.warnings)).toEqual(isAway ? ["team_without_members"] : []);
    },
  );

  test("can't be back before the absence begins", async () => {
    const team = await createTeamWithMembers(app, {}, {});
    const absence = { unavailable_from: at(hour), unavailable_until: at(hour) };
    expect(await expectFailure(addMember(team.id, absence))).toMatchObject({
      status: 400,
      code: "absence_ends_first",
      error: { param: "unavailable_until" },
    });
  });
});

describe("an inactive or empty team is warned of", () => {
  const idle = ["team_inactive", "team_without_members"];

  test("when it is created, read, or gets its first member", async () => {
    const { data: team } = await app.call(teams.create_team, { name: "Night" });
    expect(team.is_active).toBe(false);
    expect(codes(team.warnings)).toEqual(idle);
    // A warning is not a request to change the team.
    expect(team.warnings.filter(({ fix }) => !fix.startsWith("Ask "))).toEqual([]);
    expect(codes((await addMember(team.id)).warnings)).toEqual(["team_inactive"]);
    await app.call(teams.update_team, { id: team.id, is_active: true });
    expect((await app.call(teams.get_team, { id: team.id })).data.warnings).toEqual([]);
  });

  test("when a conversation is handed to it; the decision and the context name the team", async () => {
    const team = await createTeamWithMembers(app, { name: "Night", is_active: false }, { Ada: {} });
    const id = await write();
    expect((await contextOf(id)).waiting_reason).toBe(
      "No routing policy is active, and the conversation is in no team: no agent is looked for.",
    );
    const { data } = await app.call(conversations.assign_conversation, { id, team_id: team.id });
    expect(codes(data.warnings)).toEqual(["team_inactive"]);
    const [decision] = (await app.call(routing.list_routing_decisions, { id })).data;
    expect(decision?.candidates.map(({ passed_over }) => passed_over)).toEqual(["team_inactive"]);
    const reason = expect.stringContaining("found nobody, as the team Night is inactive");
    expect(decision?.explanation).toEqual(reason);
    expect((await contextOf(id)).waiting_reason).toEqual(reason);
  });

  test("when the bot is configured to hand over to it", async () => {
    const team = await createTeamWithMembers(app, { name: "Night", is_active: false }, {});
    const configure = async () => {
      const nodes = [{ id: "main", type: "handoff", config: { team_id: team.id } }];
      const graph_definition = { entry_point: "main", nodes, edges: [] };
      return (await app.call(chatbot.configure_chatbot, { graph_definition })).data.warnings;
    };
    const field = "graph_definition.nodes[0].config.team_id";
    expect((await configure()).map((one) => [one.field, one.code])).toEqual(
      idle.map((code) => [field, code]),
    );
    await app.call(teams.update_team, { id: team.id, is_active: true });
    await addMember(team.id);
    expect(await configure()).toEqual([]);
  });
});
