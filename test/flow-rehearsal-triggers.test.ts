/** What a rehearsal says of a trigger, of a graph or of a stored flow. */
import { expect, test } from "vitest";
import type { InputOf } from "../tools/contract/index.ts";
import { flows } from "../tools/flows/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createFlowHelpers, type NewNode } from "./support/flows.ts";

const app = useTestApp();
const { create } = createFlowHelpers(app);

type Rehearsal = InputOf<typeof flows.rehearse_flow>;

const rehearse = async (input: Rehearsal) => (await app.call(flows.rehearse_flow, input)).data;
const nodes: NewNode[] = [{ id: "tag", node_type: "add_tag", action_config: { tag: "a" } }];

type Trigger = NonNullable<Rehearsal["trigger"]>;
const onKeyword = (trigger_keyword: string, trigger_match: Trigger["trigger_match"]): Trigger => ({
  trigger_type: "keyword",
  trigger_keyword,
  trigger_match,
});
const onEvent = (trigger_event_type: Trigger["trigger_event_type"], settings = {}): Trigger => ({
  trigger_type: "event",
  trigger_event_type,
  settings,
});
const onVip = onEvent("contact.tag_added", { tag: "vip" });
type Expected = boolean | null;

test.each<[string, Trigger, Partial<Rehearsal>, Expected]>([
  ["a word of the message", onKeyword("price, offer", "word"), { message: "The OFFER, please" }, true],
  ["another message", onKeyword("price, offer", "exact"), { message: "The offer, please" }, false],
  ["a regular expression", onKeyword("^order #?\\d+$", "regex"), { message: "order 12" }, true],
  ["a keyword without a message", onKeyword("offer", "word"), {}, null],
  ["each message", onEvent("message.received"), { message: "hi" }, true],
  ["another event than the message", onEvent("conversation.closed"), { message: "hi" }, null],
  ["its event", onEvent("conversation.closed"), { event: { type: "conversation.closed" } }, true],
  ["another event", onEvent("conversation.closed"), { event: { type: "contact.created" } }, false],
  ["its tag", onVip, { event: { type: "contact.tag_added", tag: "vip" } }, true],
  ["another tag", onVip, { event: { type: "contact.tag_added", tag: "new" } }, false],
])("a trigger of a graph is compared: %s", async (_, trigger, input, expected) => {
  const answer = await rehearse({ nodes, trigger, ...input });
  expect(answer).toMatchObject({ status: "completed", would_trigger: expected, next_run_at: null });
});

test("an event is compared with the trigger of a stored flow", async () => {
  const { id } = await create(nodes, {
    trigger_type: "event",
    trigger_keyword: undefined,
    trigger_event_type: "contact.created",
    is_enabled: false,
  });
  const event = { type: "contact.created" } as const;
  expect(await rehearse({ flow_id: id, event })).toMatchObject({ would_trigger: true, is_enabled: false });
  await app.call(flows.toggle_flow, { id, is_enabled: true });
  expect(await rehearse({ flow_id: id, event })).toMatchObject({ would_trigger: true, is_enabled: true });
});

test("a schedule of a graph has its next time after the start", async () => {
  const trigger = {
    trigger_type: "schedule",
    trigger_schedule: "0 9 * * *",
    trigger_schedule_timezone: "Europe/Berlin",
  } as const;
  const answer = await rehearse({ nodes, trigger, start_at: "2030-01-01T10:00:00Z" });
  expect(answer).toMatchObject({ would_trigger: null, next_run_at: "2030-01-02T08:00:00.000Z" });
});

test.each<[object, string]>([
  [{ trigger: { trigger_type: "keyword" } }, "trigger.trigger_keyword"],
  [{ trigger: onKeyword("(", "regex") }, "trigger_keyword"],
  [{ trigger: { trigger_type: "schedule", trigger_schedule: "often" } }, "trigger_schedule"],
  [{ trigger: { ...onVip, trigger_keyword: "hi" } }, "trigger_keyword"],
  [{ event: { type: "contact.tag_removed" } }, "event.type"],
])("%j is rejected", async (input, param) => {
  const failure = await expectFailure(rehearse({ nodes, ...input }));
  expect(failure).toMatchObject({ status: 400, error: { param } });
});
