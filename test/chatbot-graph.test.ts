/** The graph of a chatbot: what is accepted, every problem by its place. */
import { describe, expect, test } from "vitest";
import { readGraph, showGraph } from "../src/platform/automation/chatbot/graph/index.ts";

function read(graph: Record<string, unknown>) {
  const result = readGraph(graph);
  if ("problems" in result) {
    throw new Error(JSON.stringify(result.problems));
  }
  return result.graph;
}

function problemsOf(graph: Record<string, unknown>) {
  const result = readGraph(graph);
  return "problems" in result ? result.problems.map(({ field, message }) => [field, message] as const) : [];
}

const sample = { entry_point: "main", nodes: [{ id: "main", type: "llm" }], edges: [] };

describe("reading", () => {
  test("the sample of the specification is its own normal form", () => {
    expect(showGraph(read(sample))).toEqual(sample);
  });

  test("other names of fields and types are accepted, and the entry is the node without an incoming edge", () => {
    const sent = {
      nodes: [
        { id: "a", type: "retrieve", config: { top_k: 3 } },
        { id: "b", type: "router" },
        { id: "c", type: "llm", name: "Main", config: { instructions: "Be kind." } },
        { id: "d", type: "end" },
      ],
      edges: [
        { from: "a", to: "b" },
        { from: "b", to: "c", condition: "found" },
        { source: "b", target: "d", condition: null },
      ],
    };
    expect(showGraph(read(sent))).toEqual({
      entry_point: "a",
      nodes: [
        { id: "a", type: "retrieve", config: { top_k: 3 } },
        { id: "b", type: "condition" },
        { id: "c", type: "llm", name: "Main", config: { instructions: "Be kind." } },
        { id: "d", type: "end" },
      ],
      edges: [
        { source: "a", target: "b" },
        { source: "b", target: "c", condition: { field: "found", operator: "eq", value: true } },
        { source: "b", target: "d" },
      ],
    });
    for (const name of ["entry", "start"]) {
      expect(read({ [name]: "x", nodes: [{ id: "x", type: "llm" }] }).entry_point).toBe("x");
    }
  });

  test("the normal form of a graph is its own normal form", () => {
    const shown = showGraph(
      read({
        nodes: [
          { id: "a", type: "handoff", config: { text: "Bye" } },
          { id: "b", type: "llm" },
        ],
        edges: [{ from: "b", to: "a", condition: { field: "score", operator: "lt", value: 0.5 } }],
      }),
    );
    expect(showGraph(read(shown))).toEqual(shown);
  });

  test("every problem of a graph is reported at once, with its node, its place and a suggestion", () => {
    const problems = problemsOf({
      entry_point: "mian",
      nodes: [
        { id: "main", type: "lm" },
        { id: "main", type: "end" },
        { id: "find", type: "retrieve", config: { top_k: 0, min_scor: 1 } },
        { id: "pick", type: "condition" },
      ],
      edges: [
        { source: "main", target: "fnd" },
        { source: "find", target: "pick", condition: "fund" },
        { source: "find", target: "pick", condition: { field: "message", operator: "like", value: "x" } },
        { source: "find", target: "pick", condition: { field: "score", operator: "gt", value: "x" } },
      ],
    });
    expect(problems.map(([field]) => field)).toEqual([
      "graph_definition.nodes[0].type",
      "graph_definition.nodes[2].config.top_k",
      "graph_definition.nodes[2].config.min_scor",
      "graph_definition.edges[1].condition",
      "graph_definition.edges[2].condition.operator",
      "graph_definition.edges[3].condition.value",
      "graph_definition.nodes[1].id",
      "graph_definition.entry_point",
      "graph_definition.edges[0].target",
      "graph_definition.edges[0].source",
      "graph_definition.nodes[3]",
    ]);
    const messages = problems.map(([, message]) => message).join("\n");
    expect(messages).toContain("The node main has the unknown type lm. Did you mean llm?");
    expect(messages).toContain("Node find:");
    expect(messages).toContain("Did you mean min_score?");
    expect(messages).toContain("There is no condition fund. Did you mean found?");
    expect(messages).toContain("There is no node mian. Did you mean main?");
    expect(messages).toContain("There is no node fnd. Did you mean find?");
  });

  test("names that every object has are unknown, like other names", () => {
    const problems = problemsOf({
      nodes: [
        { id: "a", type: "llm" },
        { id: "b", type: "constructor" },
      ],
      edges: [{ source: "a", target: "b", condition: "toString" }],
    });
    expect(problems).toContainEqual([
      "graph_definition.nodes[1].type",
      "The node b has the unknown type constructor.",
    ]);
    expect(problems).toContainEqual([
      "graph_definition.edges[0].condition",
      "There is no condition toString.",
    ]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["no nodes", { nodes: [] }, "graph_definition.nodes"],
    ["an unknown member", { ...sample, edge: [] }, "graph_definition.edge"],
    ["both names of a field", { ...sample, entry: "main" }, "graph_definition.entry"],
    [
      "two possible entries",
      {
        nodes: [
          { id: "a", type: "llm" },
          { id: "b", type: "llm" },
        ],
      },
      "graph_definition.entry_point",
    ],
    [
      "two edges without a condition",
      {
        nodes: ["a", "b", "c"].map((id) => ({ id, type: "llm" })),
        edges: [
          { source: "a", target: "b" },
          { source: "a", target: "c" },
        ],
      },
      "graph_definition.edges[1].condition",
    ],
    [
      "instructions of 2,001 characters",
      { nodes: [{ id: "a", type: "llm", config: { instructions: "x".repeat(2001) } }] },
      "graph_definition.nodes[0].config.instructions",
    ],
    [
      "an empty part of a message",
      {
        entry_point: "a",
        nodes: ["a", "b"].map((id) => ({ id, type: "llm" })),
        edges: [
          { source: "a", target: "b", condition: { field: "message", operator: "contains", value: "" } },
        ],
      },
      "graph_definition.edges[0].condition.value",
    ],
  ])("%s is rejected at its place", (_, graph, field) => {
    expect(problemsOf(graph).map(([place]) => place)).toEqual([field]);
  });

  test("a circle without a way out is rejected, each node of it", () => {
    const nodes = ["a", "b", "c"].map((id) => ({ id, type: "retrieve" }));
    const edges = [
      { source: "a", target: "b" },
      { source: "b", target: "c" },
      { source: "c", target: "b" },
    ];
    expect(problemsOf({ entry_point: "a", nodes, edges }).map(([field]) => field)).toEqual([
      "graph_definition.nodes[0]",
      "graph_definition.nodes[1]",
      "graph_definition.nodes[2]",
    ]);
  });
});
