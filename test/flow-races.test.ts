/** Races: of replies, time-outs, priorities, persons and several apps, each with one right outcome. */
import { describe, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { chain, createFlowHelpers, say, textsOf } from "./support/flows.ts";
import { iterations } from "./support/iterations.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const { create, runsOf } = createFlowHelpers(app);

const minute = 60_000;
let numbers = 0;
const nextNumber = () => `+1415559${String(++numbers).padStart(4, "0")}`;
const settle = () => app.advanceTime(1_000);

/** A question with an edge for the reply and one for the time-out. */
const question = (timeout: string) => [
  { id: "ask", node_type: "ask", action_config: { text: "Well?", timeout, save_as: "answer" } } as const,
  { ...say("Thanks", "thanks"), parent_node_id: "ask" },
  { ...say("Too late", "late"), parent_node_id: "ask", connection_type: "timeout" } as const,
];

test("a reply and the time-out at the same moment: exactly one of them wins", { tags: "both" }, async () => {
  await create(question("10m"), { trigger_keyword: "race" });
  for (let round = 0; round < iterations(2, 6); round += 1) {
    const phone = openPhone(app, nextNumber());
    const { conversation_id } = await phone.write("race");
    await settle();
    // The reply is stored first, or its job and the time-out's become due together.
    await (round % 2 === 0
      ? Promise.all([phone.write("here"), app.advanceTime(10 * minute)])
      : app
          .advanceTime(10 * minute - 1_000)
          .then(() => Promise.all([phone.write("here"), app.advanceTime(2_000)])));
    await settle();
    await settle();
    const [run, ...others] = await runsOf(conversation_id);
    const texts = textsOf(await phone.listMessages());
    const isAnswered = run?.path.some(({ outcome }) => outcome === "reply") ?? false;
    expect(texts).toEqual(["Well?", isAnswered ? "Thanks" : "Too late"]);
    expect([run?.status, others]).toEqual(["completed", []]);
    await phone.write("again");
    await app.advanceTime(11 * minute);
    expect(textsOf(await phone.listMessages())).toEqual(texts);
  }
});

test("several flows match: the highest priority first, then the oldest, and one that may wait", {
  tags: "both",
}, async () => {
  await create([say("low")], { trigger_keyword: "many", priority: -1 });
  const busy = await create(question("1h"), { trigger_keyword: "many", priority: 5, name: "First" });
  await create(question("1h"), { trigger_keyword: "many", priority: 4, name: "Second" });
  await create([say("high")], { trigger_keyword: "many", priority: 9 });
  await create([say("late low")], { trigger_keyword: "many", priority: -1 });
  const phone = openPhone(app, nextNumber());
  const { conversation_id } = await phone.write("many");
  await settle();
  await settle();
  expect(textsOf(await phone.listMessages())).toEqual(["high", "Well?", "low", "late low"]);
  const waiting = (await runsOf(conversation_id)).filter(({ status }) => status === "waiting");
  expect(waiting.map(({ flow_id }) => flow_id)).toEqual([busy.id]);

  // The answer goes to the run that waits; the others start again, but for those that may wait.
  await phone.write("many");
  await settle();
  await settle();
  expect(textsOf(await phone.listMessages()).slice(4)).toEqual(["Thanks", "high", "low", "late low"]);
});

test("a flow that may wait can't be triggered while another one is active", async () => {
  const { id } = await create(question("1h"), { trigger_keyword: "exclusive" });
  const phone = openPhone(app, nextNumber());
  const { conversation_id } = await phone.write("exclusive");
  await settle();
  const trigger = () => app.call(flows.trigger_flow, { id, conversation_id });
  const [run] = await runsOf(conversation_id);
  expect(await expectFailure(trigger())).toMatchObject({
    status: 409,
    code: "flow_run_active",
    error: { run_id: run?.id },
  });
  await app.call(flows.cancel_flow_run, { id: run?.id ?? "" });
  expect((await trigger()).data.status).toBe("triggered");
});

describe("a person", () => {
  test("who replies between two nodes ends the run", async () => {
    await create(
      chain(say("one"), { id: "w", node_type: "wait", action_config: { duration: "1m" } }, say("two")),
      { trigger_keyword: "between" },
    );
    const number = nextNumber();
    const phone = openPhone(app, number);
    const { conversation_id } = await phone.write("between");
    await settle();
    const text = { type: "text", text: { body: "me" } } as const;
    await Promise.all([app.call(messages.send_message, { to: number, ...text }), app.runDueJobs()]);
    await app.advanceTime(2 * minute);
    expect(textsOf(await phone.listMessages())).toEqual(["one", "me"]);
    expect(await runsOf(conversation_id)).toMatchObject([{ status: "cancelled", reason: "person_replied" }]);
  });

  test("who closes the conversation or disables the flow ends no run", async () => {
    const { id } = await create(
      chain({ id: "w", node_type: "wait", action_config: { duration: "1m" } }, say("still here")),
      { trigger_keyword: "close" },
    );
    const phone = openPhone(app, nextNumber());
    const { conversation_id } = await phone.write("close");
    await settle();
    await app.call(conversations.update_conversation, { id: conversation_id, status: "closed" });
    await app.call(flows.toggle_flow, { id });
    await app.advanceTime(2 * minute);
    expect(textsOf(await phone.listMessages())).toEqual(["still here"]);
    expect(await expectFailure(app.call(flows.trigger_flow, { id, conversation_id }))).toMatchObject({
      status: 409,
      code: "flow_disabled",
    });
  });
});

test("flows that start each other end at the limit of an hour", async () => {
  const first = await create([say("ping")], { trigger_keyword: "ping" });
  const second = await create(
    chain(say("pong"), { id: "go", node_type: "start_flow", action_config: { flow_id: first.id } }),
    { trigger_keyword: "pong" },
  );
  await app.call(flows.update_flow, {
    id: first.id,
    nodes: chain(say("ping"), { id: "go", node_type: "start_flow", action_config: { flow_id: second.id } }),
  });
  const phone = openPhone(app, nextNumber());
  const { conversation_id } = await phone.write("ping");
  for (let round = 0; round < 25; round += 1) {
    await settle();
  }
  const runs = await runsOf(conversation_id);
  expect(runs).toHaveLength(20);
  expect(runs.at(-1)).toMatchObject({ status: "failed", reason: "flow_not_startable" });
});
