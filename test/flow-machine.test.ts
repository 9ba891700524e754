/** The state of a run: random graphs and results, without a database. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Graph, type GraphNode, toGraph } from "../src/platform/automation/flows/graph/index.ts";
import type { NodeOutcome } from "../src/platform/automation/flows/nodes/index.ts";
import {
  applyOutcome,
  beginRun,
  endWait,
  maxSteps,
  nextOf,
  type RunState,
} from "../src/platform/automation/flows/run/machine.ts";
import { type ConnectionType, connectionTypes, nodeTypes } from "../tools/flows/index.ts";
import { iterations } from "./support/iterations.ts";

/** A tree of random nodes; each has an earlier one as its parent. */
const graphs = fc
  .array(
    fc.record({
      parent: fc.nat(),
      type: fc.constantFrom(...nodeTypes),
      connection_type: fc.constantFrom<ConnectionType>(...connectionTypes),
      sort_order: fc.integer({ min: -2, max: 2 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((drawn) =>
    toGraph(
      drawn.map(({ parent, type, connection_type, sort_order }, index) => ({
        id: `n${index}`,
        node_type: type,
        action_config: {},
        connection_type,
        sort_order,
        parent_node_id: index === 0 ? null : `n${parent % index}`,
        connection_value: "yes",
      })),
    ),
  );

const request = {
  method: "GET",
  url: "https://example.com",
  headers: {},
  secret_headers: [],
  body: null,
  timeout_ms: 1,
} as const;
const reply = { message_id: "msg_1", text: "yes", button: "yes" };
const outcomes = fc.oneof<fc.Arbitrary<NodeOutcome>[]>(
  fc.constantFrom<NodeOutcome>(
    { kind: "next", edge: { type: "done" } },
    { kind: "next", edge: { type: "condition", isTrue: true } },
    { kind: "next", edge: { type: "condition", isTrue: false } },
    { kind: "next", edge: { type: "reply", reply, matches: () => false }, save: { answer: 1 } },
    { kind: "next", edge: { type: "timeout" } },
    { kind: "wait", for: "time", until: new Date(0) },
    { kind: "wait", for: "reply", until: new Date(0) },
    { kind: "error", code: "failed" },
    { kind: "error", code: "failed", save: { answer: 2 } },
    { kind: "call", request },
    { kind: "end" },
    { kind: "handover" },
  ),
  fc.nat(11).map((number): NodeOutcome => ({ kind: "goto", node_id: `n${number}` })),
);

const events = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("step" as const), outcome: outcomes }),
    fc.record({ type: fc.constant("timeout" as const), late: fc.nat(2) }),
    fc.record({ type: fc.constant("response" as const), late: fc.nat(2) }),
    fc.record({ type: fc.constant("reply" as const), message: fc.nat(9) }),
  ),
  { maxLength: 40 },
);
type RunEvent = (typeof events extends fc.Arbitrary<infer Events> ? Events : never)[number];

test("no sequence of steps, replies and time-outs leaves the states of a run", () => {
  const numRuns = iterations(2_000, 25_000);
  let count = 0;
  fc.assert(
    fc.property(graphs, events, (graph, sequence) => {
      let state = beginRun(graph);
      for (const event of sequence) {
        count += 1;
        const before = state;
        state = apply(graph, state, event);
        requireValid(graph, state);
        requireProgress(before, state, event);
      }
    }),
    { numRuns, seed: 1 },
  );
  expect(count).toBeGreaterThan(4 * numRuns);
});

test("a loop ends after 100 steps", () => {
  const node = { node_type: "goto", action_config: { node_id: "a" }, connection_value: null, sort_order: 0 };
  const graph = toGraph([{ ...node, id: "a", parent_node_id: null, connection_type: "always" }]);
  let state = beginRun(graph);
  for (let step = 0; step < maxSteps + 10; step += 1) {
    state = apply(graph, state, { type: "step", outcome: { kind: "goto", node_id: "a" } });
  }
  expect(state).toMatchObject({ status: "failed", reason: "step_limit", steps: maxSteps, pending: [] });
});

function apply(graph: Graph, state: RunState, event: RunEvent): RunState {
  if (event.type === "timeout") {
    return endWait(state, { type: "timeout", episode: state.episode - event.late }) ?? state;
  }
  if (event.type === "response") {
    const result = { status: 200, body: null };
    return endWait(state, { type: "response", episode: state.episode - event.late, result }) ?? state;
  }
  if (event.type === "reply") {
    return endWait(state, { type: "reply", message_id: `msg_${event.message}` }) ?? state;
  }
  const node = nextOf(graph, state);
  return node === undefined || node === "end"
    ? state
    : applyOutcome(graph, state, { node: node as GraphNode, outcome: event.outcome, latestMessage: "msg_5" })
        .state;
}

/** Cheaper than `expect`, which takes most of the time of so many checks. */
function requireThat(holds: boolean, rule: string, states: unknown): void {
  if (!holds) {
    throw new Error(`${rule}: ${JSON.stringify(states)}`);
  }
}

function requireValid(graph: Graph, state: RunState): void {
  const { status, reason, pending, steps, wait, due_at } = state;
  const isFinal = status === "completed" || status === "failed" || status === "cancelled";
  const isWaiting = status === "waiting";
  const rules = {
    "the steps are limited": steps <= maxSteps + graph.nodes.length,
    "a run that has ended has nothing to do": !isFinal || (pending.length === 0 && wait === null),
    // The time-out of a call is that of its request.
    "every wait but that for a response has a time-out":
      (isWaiting && wait?.for !== "response") === (due_at !== null),
    "a run waits for something that has not come": !isWaiting || wait?.ended_by === null,
    "a running run does not wait": status !== "running" || wait === null || wait.ended_by !== null,
    "a failure has a reason": status !== "failed" || reason !== null,
    // A sibling runs once: no node is pending twice but by a goto, which leaves it alone.
    "no node is pending twice": new Set(pending).size === pending.length,
  };
  for (const [rule, holds] of Object.entries(rules)) {
    requireThat(holds, rule, state);
  }
}

function requireProgress(before: RunState, after: RunState, event: RunEvent): void {
  const isFinal = before.status !== "running" && before.status !== "waiting";
  const isStepInWait = before.status === "waiting" && event.type === "step";
  const isLate = event.type !== "step" && event.type !== "reply" && event.late > 0;
  const isReplyTooEarly = event.type === "reply" && event.message <= 5;
  // Each wait has its ends.
  const ends = { time: ["timeout"], reply: ["timeout", "reply"], response: ["response"] };
  const waitsFor = before.status === "waiting" && before.wait?.for;
  const hasBegunToWait = before.status !== after.status && after.status === "waiting";
  const isSame = after === before;
  const rules = {
    "nothing changes a run that has ended, and no step one that waits": isSame || !(isFinal || isStepInWait),
    "the loser of a race changes nothing": isSame || !(isLate || isReplyTooEarly),
    "only what a wait is for ends it": isSame || !waitsFor || ends[waitsFor].includes(event.type),
    "each wait is an episode": after.episode - before.episode === (hasBegunToWait ? 1 : 0),
  };
  for (const [rule, holds] of Object.entries(rules)) {
    requireThat(holds, rule, { before, event, after });
  }
}
