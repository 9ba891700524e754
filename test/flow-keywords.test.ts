/** How much a message costs that is compared with many keywords, and a graph that has many problems. */
import { expect, test, vi } from "vitest";
import { validateGraph } from "../src/platform/automation/flows/checks/validate.ts";
import { toGraph } from "../src/platform/automation/flows/graph/index.ts";
import { matchesKeyword, readComparedText } from "../src/platform/automation/flows/texts/keywords.ts";
import { renderJson } from "../src/platform/automation/flows/texts/placeholders.ts";
import { matchingOf } from "../src/platform/automation/flows/triggers/matching.ts";
import { countTurns } from "./support/turns.ts";

const never = () => false;

test("a message is normalized once for all keywords, and its normalized form is no longer than a message", () => {
  const keyword = Array.from({ length: 80 }, (_, index) => `k${index}`).join(",");
  const text = readComparedText("\ufdfa".repeat(4096));
  expect(text.normalized).toHaveLength(4096);
  const normalize = vi.spyOn(String.prototype, "normalize");
  for (const match of ["exact", "contains", "starts_with", "word"] as const) {
    expect(matchesKeyword(text, { match, keyword }, never)).toBe(false);
  }
  const longest = Math.max(...normalize.mock.contexts.map((one) => String(one).length));
  normalize.mockRestore();
  expect(longest).toBeLessThanOrEqual(3);
});

test("flows are compared with a message in several turns of the event loop", async () => {
  const flow = { trigger_type: "keyword", trigger_keyword: "ship", trigger_match: "word" };
  // Only these columns are compared.
  const flows = Array.from({ length: 50 }, (_, id) => ({
    ...flow,
    id: `flow_${id}`,
  })) as unknown as Parameters<typeof matchingOf>[0];
  const text = readComparedText("Ship it");
  const occurrence = { event_type: "message.received", text, tags: [], matches: never };
  const { result, turns } = await countTurns(() => matchingOf(flows, occurrence));
  expect(result).toHaveLength(50);
  expect(turns).toBeGreaterThanOrEqual(50);
});

const node = (id: string, parent: string | null, more = {}) => ({
  id,
  node_type: "send_message" as const,
  action_config: { text: "Hi" } as Record<string, unknown>,
  parent_node_id: parent,
  connection_type: "always" as const,
  connection_value: null,
  sort_order: 0,
  ...more,
});

test.each([
  [1_000, []],
  [1_001, ["The edges below ask have more than 1000 keywords."]],
])("the edges below a node have %i keywords", async (count, expected) => {
  const half = Math.floor(count / 2);
  const edge = (size: number) => ({
    connection_type: "keyword",
    connection_value: Array(size).fill("a").join(","),
  });
  const graph = toGraph([
    node("ask", null, { node_type: "wait_for_reply", action_config: {} }),
    node("one", "ask", edge(half)),
    node("other", "ask", edge(count - half)),
  ]);
  expect((await validateGraph(graph)).map(({ message }) => message)).toEqual(expected);
});

test("of many configs that are wrong, those of the first nodes are named, in several turns of the event loop", async () => {
  const parts = Array.from({ length: 200 }, (_, index) =>
    node(`n${index}`, index === 0 ? null : `n${index - 1}`, { action_config: { txt: "Hi" } }),
  );
  const { result, turns } = await countTurns(() => validateGraph(toGraph(parts)));
  expect(turns).toBeGreaterThanOrEqual(5);
  const problems = result.filter(({ field }) => field.includes("action_config"));
  expect(new Set(problems.map(({ field }) => field.split(".")[0])).size).toBeLessThanOrEqual(20);
});

test("a value is read once for all its placeholders in a text", () => {
  const read = vi.fn(() => Array(2_000).fill(""));
  const template = { texts: Array(100).fill("{{vars.a}} and {{ vars.a }} or {{vars.b}}") };
  expect(renderJson(template, { read, maxLength: 10_000_000 }).text).toContain(", , ");
  expect(read.mock.calls).toEqual([["vars.a"], ["vars.b"]]);
});
