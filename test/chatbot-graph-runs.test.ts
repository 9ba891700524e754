/** Which way a run of a chatbot's graph takes. */
import { describe, expect, test } from "vitest";
import { type GraphPorts, readGraph, runGraph } from "../src/platform/automation/chatbot/graph/index.ts";
import type { Answer, Passage } from "../src/platform/automation/chatbot/responders/index.ts";

const passage: Passage = {
  type: "qa_pair",
  isRelevant: true,
  score: 0.8,
  question: "Open?",
  answer: "From 9 to 5.",
};
const quoted = { model: null, usage: null };
const known: Answer = { outcome: "answered", text: "From 9 to 5.", sources: [passage], ...quoted };
const unknown: Answer = { outcome: "unknown", reason: "not_found", ...quoted };

function read(graph: Record<string, unknown>) {
  const result = readGraph(graph);
  if ("problems" in result) {
    throw new Error(JSON.stringify(result.problems));
  }
  return result.graph;
}

/** Runs a graph; records the searches and the answers. */
async function run(
  graph: Record<string, unknown>,
  {
    answer = known,
    passages = [passage],
    message = "When?",
  }: { answer?: Answer; passages?: Passage[]; message?: string } = {},
) {
  const calls: unknown[] = [];
  const ports: GraphPorts = {
    async retrieve(limit) {
      calls.push(["retrieve", limit]);
      return passages;
    },
    async respond(found, config) {
      calls.push(["respond", found.length, config.max_tokens]);
      return answer;
    },
  };
  return { ...(await runGraph(read(graph), message, ports)), calls };
}

const sample = { entry_point: "main", nodes: [{ id: "main", type: "llm" }], edges: [] };

describe("running", () => {
  test("an llm node alone searches and answers", async () => {
    const result = await run(sample);
    expect(result).toMatchObject({ texts: ["From 9 to 5."], node: "main", handoff: null });
    expect(result.calls).toEqual([
      ["retrieve", 10],
      ["respond", 1, 800],
    ]);
  });

  test("without a handoff node, an answer that is not known hands over", async () => {
    const { texts, handoff } = await run(sample, { answer: unknown });
    expect({ texts, handoff }).toEqual({
      texts: [],
      handoff: { reason: "not_found", text: null, team_id: null },
    });
  });

  test("an llm node answers from the passages of the retrieve node before it, above its score", async () => {
    const graph = {
      nodes: [
        { id: "find", type: "retrieve", config: { top_k: 2, min_score: 0.9 } },
        { id: "say", type: "llm", name: "Speaker", config: { max_tokens: 50 } },
      ],
      edges: [{ source: "find", target: "say" }],
    };
    const result = await run(graph);
    expect(result.node).toBe("Speaker");
    expect(result.calls).toEqual([
      ["retrieve", 2],
      ["respond", 0, 50],
    ]);
  });

  const branching = {
    entry_point: "find",
    nodes: [
      { id: "find", type: "retrieve" },
      { id: "pick", type: "condition" },
      { id: "greet", type: "message", config: { text: "Hello!" } },
      { id: "say", type: "llm" },
      { id: "person", type: "handoff", config: { text: "A person will answer.", team_id: "team_1" } },
      { id: "end", type: "end" },
    ],
    edges: [
      { source: "find", target: "pick" },
      {
        source: "pick",
        target: "greet",
        condition: { field: "message", operator: "starts_with", value: "HÉLLO" },
      },
      { source: "pick", target: "say", condition: { field: "score", operator: "gte", value: 0.8 } },
      { source: "pick", target: "person" },
      { source: "say", target: "person", condition: "not_answered" },
      { source: "say", target: "end" },
    ],
  };

  test.each<[string, Parameters<typeof run>[1], Record<string, unknown>]>([
    [
      "the first condition that is met",
      { message: "hello you" },
      { node: "greet", texts: ["Hello!"], handoff: null },
    ],
    ["a later one", {}, { node: "say", texts: ["From 9 to 5."], handoff: null }],
    [
      "the edge without a condition",
      { passages: [{ ...passage, score: 0.79 }] },
      { node: "person", handoff: { reason: "requested", text: "A person will answer.", team_id: "team_1" } },
    ],
    [
      "an answer that is not known",
      { answer: unknown },
      { node: "person", handoff: { reason: "not_found", text: "A person will answer.", team_id: "team_1" } },
    ],
  ])("follows %s", async (_, options, expected) => {
    expect(await run(branching, options)).toMatchObject(expected);
  });

  test("a message after an answer that is not known is said instead of a hand-off", async () => {
    const graph = {
      nodes: [
        { id: "say", type: "llm" },
        { id: "sorry", type: "message", config: { text: "Sorry." } },
      ],
      edges: [{ source: "say", target: "sorry", condition: "not_answered" }],
    };
    expect(await run(graph, { answer: unknown })).toMatchObject({
      texts: ["Sorry."],
      node: "sorry",
      handoff: null,
    });
    expect(await run(graph)).toMatchObject({ texts: ["From 9 to 5."], node: "say" });
  });

  test("a circle ends after 25 nodes, with a hand-off", async () => {
    const graph = {
      entry_point: "a",
      nodes: [
        { id: "a", type: "retrieve" },
        { id: "b", type: "end" },
      ],
      edges: [
        { source: "a", target: "a" },
        { source: "a", target: "b", condition: "not_found" },
      ],
    };
    const { handoff, calls } = await run(graph);
    expect(handoff).toEqual({ reason: "step_limit", text: null, team_id: null });
    expect(calls).toHaveLength(25);
  });
});
