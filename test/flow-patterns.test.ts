/**
 * Regular expressions of flows: their size and their time are limited, and they are
 * matched on another thread.
 */
import { expect, test } from "vitest";
import { openPatternMatcher } from "../src/adapters/patterns/index.ts";
import { flows } from "../tools/flows/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { chain, createFlowHelpers, type NewNode, say, textsOf } from "./support/flows.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const { create, runsOf } = createFlowHelpers(app);

/** With the longest message, it takes a processor seconds, also a fast one. */
const slow = `${"\\pL{0,999}".repeat(23)}z`;
const longest = "ä".repeat(4096);

const question = (pattern: string): NewNode => ({
  id: "ask",
  node_type: "ask",
  action_config: { text: "Your number?", validate: { type: "regex", pattern } },
});
const waiting: NewNode = { id: "wait", node_type: "wait_for_reply", action_config: {} };
const edge = (pattern: string, id = "edge"): NewNode => ({
  ...say("Matched", id),
  parent_node_id: "wait",
  connection_type: "keyword",
  connection_value: `regex:${pattern}`,
});
const otherwise: NewNode = { ...say("Otherwise"), parent_node_id: "wait", connection_type: "default" };
const exact = (trigger_keyword: string) => ({ trigger_keyword, trigger_match: "exact" }) as const;

/** Flows that an earlier version saved may have any expression. */
async function replaceStored(id: string, from: string, to: string): Promise<void> {
  const { queries } = app.server.database;
  const { nodes } = await queries
    .selectFrom("flow_versions")
    .select("nodes")
    .where("flow_id", "=", id)
    .executeTakeFirstOrThrow();
  const changed = JSON.stringify(nodes).replace(
    JSON.stringify(from).slice(1, -1),
    JSON.stringify(to).slice(1, -1),
  );
  await queries.updateTable("flow_versions").set({ nodes: changed }).where("flow_id", "=", id).execute();
}

test.each([
  ["a keyword", [say("a")], { trigger_keyword: slow, trigger_match: "regex" }, "trigger_keyword"],
  ["an edge", [waiting, edge(slow)], {}, "nodes[1].connection_value"],
  ["a validation", [question(slow)], {}, "nodes[0].action_config.validate.pattern"],
] as const)(
  "an expression of more than 1,000 instructions is rejected as %s",
  async (_, nodes, fields, field) => {
    const { status, error } = await expectFailure(create([...nodes], fields));
    expect([status, error?.param]).toEqual([400, field]);
    expect(error?.details).toMatchObject([
      { field, code: "regex_too_large", fix: expect.stringMatching(/Shorten/) },
    ]);
    const largest = "\\d{0,499}";
    const { id } = await create([waiting, edge(largest)], exact("largest"));
    await app.call(flows.delete_flow, { id });
  },
);

test("an expression that is changed alone, to a regex of the stored keyword, is checked", async () => {
  const { id } = await create([say("a")], exact("(?=a)"));
  const { status, error } = await expectFailure(app.call(flows.update_flow, { id, trigger_match: "regex" }));
  expect([status, error?.param]).toEqual([400, "trigger_keyword"]);
  await app.call(flows.delete_flow, { id });
});

test("a rehearsal rejects an expression that is too large", async () => {
  const nodes = [waiting, edge(slow)];
  const input = { nodes, message: "hi", script: [{ text: longest }] };
  expect(await expectFailure(app.call(flows.rehearse_flow, input))).toMatchObject({
    status: 400,
    error: { details: [{ code: "regex_too_large" }] },
  });
});

test("a match that takes too long counts as none, and the run names the node", async () => {
  const { id } = await create([waiting, edge("old"), edge("\\pL{4}", "next"), otherwise], exact("edge"));
  await replaceStored(id, "old", slow);
  const phone = openPhone(app, "+14155570301");
  const { conversation_id } = await phone.write("edge");
  await app.advanceTime(1_000);
  await phone.write(longest);
  await app.advanceTime(1_000);
  const [run] = await runsOf(conversation_id);
  expect(run).toMatchObject({
    status: "completed",
    path: [
      { node_id: "wait", outcome: "wait", timed_out: [] },
      { node_id: "wait", outcome: "reply", timed_out: ["edge"], next: ["next"] },
      { node_id: "next", outcome: "next", timed_out: [] },
    ],
  });
  const rehearsal = await app.call(flows.rehearse_flow, {
    flow_id: id,
    message: "edge",
    script: [{ text: longest }],
  });
  expect(rehearsal.data.path.map(({ timed_out }) => timed_out)).toEqual([undefined, ["edge"], undefined]);
});

test("an answer whose validation takes too long is not valid, and the run names the question", async () => {
  const { id } = await create(chain(question("old"), say("Thanks")), exact("answer"));
  await replaceStored(id, "old", slow);
  const phone = openPhone(app, "+14155570302");
  const { conversation_id } = await phone.write("answer");
  await app.advanceTime(1_000);
  await phone.write(longest);
  await app.advanceTime(1_000);
  const [run] = await runsOf(conversation_id);
  expect(run?.path.map(({ outcome, timed_out }) => [outcome, timed_out])).toEqual([
    ["wait", []],
    ["invalid", ["ask"]],
  ]);
  expect(textsOf(await phone.listMessages())).toEqual(["Your number?", "Your number?"]);
});

test("a keyword that takes too long starts nothing, which a failed run records; other flows start", async () => {
  const { id } = await create([say("Slow")], { trigger_keyword: "old", trigger_match: "regex" });
  await app.server.database.queries
    .updateTable("flows")
    .set({ trigger_keyword: slow })
    .where("id", "=", id)
    .execute();
  const other = await create([say("Other")], { trigger_keyword: "ä+", trigger_match: "regex" });
  const phone = openPhone(app, "+14155570303");
  const { conversation_id } = await phone.write(longest);
  await app.advanceTime(1_000);
  const runs = await runsOf(conversation_id);
  expect(
    new Set(runs.map(({ flow_id, status, reason, steps }) => `${flow_id} ${status} ${reason} ${steps}`)),
  ).toEqual(new Set([`${id} failed pattern_timeout 0`, `${other.id} completed null 1`]));
  expect(textsOf(await phone.listMessages())).toEqual(["Other"]);
  for (const flow_id of [id, other.id]) {
    await app.call(flows.delete_flow, { id: flow_id });
  }
});

test("records of expressions that took too long do not count as runs of the contact", async () => {
  const { id } = await create([say("Slow")], { trigger_keyword: "old", trigger_match: "regex" });
  const { queries } = app.server.database;
  await queries.updateTable("flows").set({ trigger_keyword: slow }).where("id", "=", id).execute();
  const phone = openPhone(app, "+14155570304");
  for (let count = 0; count < 11; count += 1) {
    await phone.write(longest);
    await app.advanceTime(1_000);
  }
  await queries.updateTable("flows").set({ trigger_keyword: "now" }).where("id", "=", id).execute();
  await phone.write("now");
  await app.advanceTime(1_000);
  expect(textsOf(await phone.listMessages())).toEqual(["Slow"]);
  await app.call(flows.delete_flow, { id });
});

test("the service goes on while an expression is matched, and keeps other compiled expressions", async () => {
  const matcher = openPatternMatcher();
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const [first, second, third] = await Promise.all([
    matcher.match(slow, longest),
    matcher.match("^Ä+$", longest),
    matcher.match("(", longest),
  ]);
  clearInterval(timer);
  expect([first, second, third]).toEqual(["timeout", "matched", "unmatched"]);
  expect(turns).toBeGreaterThan(0);
  expect(await matcher.inspect("a{0,10}")).toMatchObject({ outcome: "valid" });
  expect(await matcher.inspect("(?=a)")).toEqual({ outcome: "invalid" });
});

test("an expression that takes too much memory is ended alone", async () => {
  const matcher = openPatternMatcher({ memoryMb: 16, inspectMs: 20_000 });
  expect(await matcher.inspect("\\pL{0,999}".repeat(100))).toEqual({ outcome: "timeout" });
  expect(await matcher.match("a", "a")).toBe("matched");
});
