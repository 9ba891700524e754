/** What each type of node does, and where its edges lead. */
import { describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { organization } from "../tools/organization.ts";
import { routing } from "../tools/routing.ts";
import { templates } from "../tools/templates/index.ts";
import { useTestApp } from "./support/app.ts";
import { chain, createFlowHelpers, type NewNode, say, textsOf } from "./support/flows.ts";
import { openPhone } from "./support/simulator.ts";
import { createTeamWithMembers } from "./support/teams.ts";
import { createTemplateHelpers } from "./support/templates.ts";

// A Monday, 07:00 in Berlin.
const app = useTestApp({ startsAt: new Date("2027-06-07T05:00:00Z") });
const { create, runsOf } = createFlowHelpers(app);

const [minute, hour] = [60_000, 3_600_000];
let numbers = 0;

/** Writes a keyword that starts the flow of these nodes. */
async function begin(nodes: NewNode[], fields: Parameters<typeof create>[1] = {}) {
  numbers += 1;
  const keyword = `begin${numbers}`;
  const flow = await create(nodes, { trigger_keyword: keyword, ...fields });
  const phone = openPhone(app, `+1415553${String(numbers).padStart(4, "0")}`);
  const { conversation_id } = await phone.write(keyword);
  await app.advanceTime(1_000);
  return {
    flow,
    phone,
    conversation_id,
    texts: async () => textsOf(await phone.listMessages()),
    run: async () => (await runsOf(conversation_id))[0],
    conversation: async () => (await app.call(conversations.get_conversation, { id: conversation_id })).data,
    async contact() {
      const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
      return (await app.call(contacts.get_contact, { id: data.contact_id })).data;
    },
    async answer(text: string, fields?: object) {
      await phone.write(text, fields);
      await app.advanceTime(1_000);
    },
  };
}

const node = (id: string, node_type: NewNode["node_type"], action_config: object = {}): NewNode => ({
  id,
  node_type,
  action_config: action_config as Record<string, unknown>,
});
const under = (parent_node_id: string, child: NewNode, fields: Partial<NewNode> = {}): NewNode => ({
  ...child,
  parent_node_id,
  ...fields,
});

describe("messages", () => {
  test("a message with buttons waits, and its edges follow the button, its typed title, or neither", async () => {
    const interactive = {
      body: 'Coffee, {{contact.name | default: "you"}}?',
      buttons: [
        { id: "y", title: "Yes" },
        { id: "n", title: "No" },
      ],
    };
    const nodes = [
      node("menu", "send_message", { interactive }),
      under("menu", say("Great"), { connection_type: "button", connection_value: "y" }),
      under("menu", say("Pity"), { connection_type: "button", connection_value: "n" }),
      under("menu", say("What?"), { connection_type: "default" }),
      under("menu", say("Bye"), { sort_order: 1 }),
    ];
    const cases: [string, object | undefined, string][] = [
      ["", { text: undefined, reply: { id: "n", title: "No" } }, "Pity"],
      ["yés", undefined, "Great"],
      ["maybe", undefined, "What?"],
    ];
    for (const [text, fields, expected] of cases) {
      const { answer, texts } = await begin(nodes);
      await answer(text, fields);
      expect(await texts()).toEqual([undefined, expected, "Bye"]);
    }
  });

  test("of keyword edges, the first that matches counts", async () => {
    const { answer, texts } = await begin([
      node("wait", "wait_for_reply"),
      under("wait", say("order"), { connection_type: "keyword", connection_value: "regex:^order #\\d+$" }),
      under("wait", say("any"), { connection_type: "keyword", connection_value: "contains:order" }),
      under("wait", say("first"), { connection_type: "keyword", connection_value: "help", sort_order: -1 }),
    ]);
    await answer("Order #12");
    expect(await texts()).toEqual(["order"]);
  });

  test("an approved template is sent by its id, with values", async () => {
    const template = await createTemplateHelpers(app).approve({
      name: "greeting",
      template_data: { body: "Hello {{1}}, welcome." },
    });
    const config = {
      template_id: template.id,
      variables: { "1": '{{contact.metadata.nick | default: "friend"}}' },
    };
    const { run, phone } = await begin([node("t", "send_template", config)]);
    expect(await run()).toMatchObject({ status: "completed" });
    expect((await phone.listMessages()).at(-1)?.type).toBe("template");
  });

  test("a template for codes is not sent, because the flow keeps its values", async () => {
    const input = { name: "flow_code", language: "en", button: "copy_code" as const };
    const { id: template_id } = (await app.call(templates.create_otp_template, input)).data;
    await app.call(templates.submit_template, { id: template_id });
    await app.advanceTime(1_000);
    const config = { template_id, variables: { code: "4711" } };
    const { run, phone } = await begin([node("t", "send_template", config)]);
    expect(await run()).toMatchObject({ status: "failed" });
    expect((await phone.listMessages()).map(({ type }) => type)).not.toContain("template");
  });

  test("outside the 24-hour window the error edge is taken, or the run fails", async () => {
    const { data } = await app.call(inboxes.list_inboxes, {});
    const inbox = data[0];
    await app.call(inboxes.update_inbox, {
      id: inbox?.id ?? "",
      settings: { ...inbox?.settings, service_window: "strict" },
    });
    const nodes = [
      node("wait", "wait", { duration: "25h" }),
      under("wait", say("Late", "late")),
      under("late", node("tag", "add_tag", { tag: "missed" }), { connection_type: "error" }),
    ];
    const caught = await begin(nodes);
    const failed = await begin(nodes.slice(0, 2));
    await app.advanceTime(26 * hour);
    await app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { ...inbox?.settings } });
    expect(await caught.run()).toMatchObject({
      status: "completed",
      path: [{}, {}, { outcome: "error", error: "outside_service_window" }, {}],
    });
    expect((await caught.contact()).tags).toEqual(["missed"]);
    expect(await failed.run()).toMatchObject({ status: "failed", reason: "outside_service_window" });
  });

  test("a question that gets no valid answer takes the error edge, and without a reply the time-out", async () => {
    const nodes = [
      node("ask", "ask", { text: "Mail?", validate: "email", retries: 1, timeout: "5m" }),
      under("ask", say("error"), { connection_type: "error" }),
      under("ask", say("timeout"), { connection_type: "timeout" }),
    ];
    const wrong = await begin(nodes);
    await wrong.answer("no");
    await wrong.answer("no no");
    expect(await wrong.texts()).toEqual(["Mail?", "Mail?", "error"]);
    const silent = await begin(nodes);
    await app.advanceTime(6 * minute);
    expect(await silent.texts()).toEqual(["Mail?", "timeout"]);
  });

  test.each([
    ["number", "1,5", 1.5],
    ["number", "00 4711", "004711"],
    ["number", "0,5", 0.5],
    ["number", "many", undefined],
    ["email", "ada@example.com", "ada@example.com"],
    ["phone", "+1 (415) 555-0100", "+14155550100"],
    ["date", "31.12.2030", "2030-12-31"],
    ["date", "2030-02-30", undefined],
    [{ type: "choice", choices: ["Rot", "Grün"] }, "grun", "Grün"],
    [{ type: "regex", pattern: "^[A-Z]{3}$" }, "abc", "abc"],
    [{ type: "text", min: 3 }, "ab", undefined],
  ])("the answer to %j is read: %s", async (validate, text, value) => {
    const { answer, run } = await begin([
      node("ask", "ask", { text: "?", save_as: "v", validate, retries: 0 }),
    ]);
    await answer(text);
    expect(await run()).toMatchObject(
      value === undefined ? { status: "failed", reason: "answer_invalid" } : { variables: { v: value } },
    );
  });
});

describe("control", () => {
  test("several always children run in turn, and goto and end leave the others out", async () => {
    const { texts } = await begin([
      say("a"),
      under("a", say("c"), { sort_order: 2 }),
      under("a", say("b"), { sort_order: 1 }),
      under("b", say("b1")),
      under("c", node("go", "goto", { node_id: "last" })),
      under("a", say("never"), { sort_order: 3 }),
      under("b1", node("if", "condition", { query: { attribute: "message.text", operator: "exists" } })),
      under("if", say("yes"), { connection_type: "condition_true" }),
      under("if", say("no"), { connection_type: "condition_false" }),
      under("no", say("last")),
      under("last", node("end", "end")),
    ]);
    await app.advanceTime(1_000);
    expect(await texts()).toEqual(["a", "b", "b1", "yes", "c", "last"]);
  });

  test("a wait ends at its time of day and at the opening, in the organization's time zone", async () => {
    const closed = { from: "09:00", to: "17:00" };
    const days = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const;
    const hours = Object.fromEntries(days.map((day) => [day, [closed]]));
    await app.call(organization.update_organization, { time_zone: "Europe/Berlin", business_hours: hours });
    const local = (time: Date) =>
      new Intl.DateTimeFormat("en-GB", {
        timeZone: "Europe/Berlin",
        hour: "2-digit",
        minute: "2-digit",
      }).format(time);
    // To the evening; the tests before have advanced the clock by days.
    await app.advanceTime(((20 - Number.parseInt(local(app.now()), 10) + 24) % 24) * hour);
    const opening = await begin([node("w", "wait", { business_hours: true }), under("w", say("open"))]);
    const clock = await begin([node("w", "wait", { until: "08:30" }), under("w", say("half past eight"))]);
    const due = async ({ run }: typeof opening) => new Date((await run())?.due_at ?? "");
    expect([local(await due(opening)), local(await due(clock))]).toEqual(["09:00", "08:30"]);
    // Over a weekend too.
    await app.advanceTime(72 * hour);
    expect([await opening.texts(), await clock.texts()]).toEqual([["open"], ["half past eight"]]);
  });

  test("start_flow starts another one, and hands over to it if both may wait", async () => {
    const other = await create([node("ask", "ask", { text: "Other?" })], { trigger_keyword: "other" });
    const nodes = [
      node("ask", "ask", { text: "First?" }),
      under("ask", node("go", "start_flow", { flow_id: other.id })),
      under("go", say("never")),
    ];
    const { answer, texts, conversation_id } = await begin(nodes, { end_action_type: "resolve" });
    await answer("yes");
    await app.advanceTime(1_000);
    expect(await texts()).toEqual(["First?", "Other?"]);
    expect(await runsOf(conversation_id)).toMatchObject([
      { status: "completed", reason: "handed_over" },
      { status: "waiting", trigger_type: "flow" },
    ]);
  });
});

describe("changes", () => {
  test("of tags, attributes, status and agents are made by the flow", async () => {
    const { id: team_id, users } = await createTeamWithMembers(app, { name: "Desk" }, { Ada: {} });
    const { conversation, contact, flow, conversation_id } = await begin(
      chain(
        node("1", "add_tag", { tag: "VIP" }),
        node("2", "add_tag", { tag: "urgent", on: "conversation" }),
        node("3", "set_attribute", { name: "metadata.city", value: "Bonn" }),
        node("4", "set_attribute", { name: "count", value: 2 }),
        node("5", "set_attribute", { name: "count", value: null }),
        node("6", "assign", { team_id }),
      ),
      { end_action_type: "snooze", end_action_config: { until: "2h" } },
    );
    expect(await contact()).toMatchObject({ tags: ["vip"], metadata: { city: "Bonn" } });
    const snoozed = new Date(app.now().getTime() + 2 * hour - 2_000).toISOString();
    expect(await conversation()).toMatchObject({
      tags: ["urgent"],
      team_id,
      status: "snoozed",
      assigned_to: users.Ada,
    });
    expect(((await conversation()).snoozed_until ?? "") > snoozed).toBe(true);
    const { data } = await app.call(conversations.list_assignments, { id: conversation_id });
    expect(data[0]).toMatchObject({
      assigned_by: flow.id,
      assigned_by_type: "flow",
      assignment_type: "manual",
    });
  });

  test("assign by a policy, and unassign and resolve at the end", async () => {
    const { id: target_id, users } = await createTeamWithMembers(app, { name: "Sales" }, { Bea: {} });
    const { data: policy } = await app.call(routing.create_routing_policy, {
      name: "Sales",
      strategy: "round_robin",
      target_type: "team",
      target_id,
      conditions: { attribute: "name", operator: "eq", value: "nobody" },
    });
    const assigned = await begin([node("a", "assign", { policy: policy.id })]);
    expect((await assigned.conversation()).assigned_to).toBe(users.Bea);
    const removed = await begin(chain(node("a", "assign", { policy: policy.id }), node("u", "unassign")), {
      end_action_type: "resolve",
    });
    expect(await removed.conversation()).toMatchObject({ assigned_to: null, status: "closed" });
    await app.call(routing.update_routing_policy, { id: policy.id, is_active: false });
    const failed = await begin([say("x")], {
      end_action_type: "assign",
      end_action_config: { team_id: target_id },
    });
    expect((await failed.conversation()).assigned_to).toBe(users.Bea);
  });

  test("a blocked contact's run is cancelled, and a new one does not start", async () => {
    const { contact, run, answer, conversation_id, flow } = await begin([node("ask", "ask", { text: "?" })]);
    await app.call(contacts.update_contact, { id: (await contact()).id, blocked: true });
    await answer("hello");
    expect(await run()).toMatchObject({ status: "cancelled", reason: "blocked" });
    await answer(flow.trigger_keyword ?? "");
    expect(await runsOf(conversation_id)).toHaveLength(1);
  });

  test("a run keeps its version, and deleting the flow cancels it", async () => {
    const { flow, texts, run } = await begin([node("w", "wait", { duration: "1m" }), under("w", say("old"))]);
    await app.call(flows.update_flow, { id: flow.id, nodes: [say("new")] });
    await app.advanceTime(2 * minute);
    expect(await texts()).toEqual(["old"]);
    expect(await run()).toMatchObject({ version: 1, status: "completed" });
    const deleted = await begin([node("w", "wait", { duration: "1m" })]);
    await app.call(flows.delete_flow, { id: deleted.flow.id });
    expect(await deleted.run()).toMatchObject({ status: "cancelled", reason: "flow_deleted" });
  });
});
