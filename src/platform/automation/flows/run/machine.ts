/**
 * The state of a run, as a pure function of what its nodes result in.
 *
 * A run is `running` while it has a node to run or its end action to do, `waiting` in a node until a reply, a time or the
 * response to a call, and then
 * `completed`, `failed` or `cancelled`, which are final. `pending` has the nodes to run, the next one first: the children of a
 * node come before the siblings that wait behind it, so each branch runs to its end before the next one. Each wait raises
 * `episode`; what ends a wait names its episode, so the loser of a race changes nothing.
 */
import type { FlowCallResult, FlowStepDetail, FlowWait } from "../../../../database/schema/index.ts";
import { type Edge, type Graph, type GraphNode, nextNodes } from "../graph/index.ts";
import type { Outcome } from "../nodes/index.ts";

/** A run of more steps is a loop without an end. */
export const maxSteps = 100;

export interface RunState {
  readonly status: "running" | "waiting" | "completed" | "failed" | "cancelled";
  readonly reason: string | null;
  readonly pending: readonly string[];
  readonly steps: number;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly wait: FlowWait | null;
  readonly due_at: string | null;
  readonly episode: number;
}

/** The state of a run that begins. */
export function beginRun({ root }: Graph): RunState {
  return {
    status: "running",
    reason: null,
    pending: root ? [root.id] : [],
    steps: 0,
    variables: {},
    wait: null,
    due_at: null,
    episode: 0,
  };
}

/** What the run does next: a node, the end action, or nothing, because it waits or has ended. */
export function nextOf(graph: Graph, { status, wait, pending }: RunState): GraphNode | "end" | undefined {
  if (status !== "running") {
    return undefined;
  }
  const id = wait?.node_id ?? pending[0];
  return id === undefined ? "end" : (graph.byId.get(id) ?? "end");
}

/** Ends a wait; undefined if it is not this one any more. `later` is the id of the reply's message. */
export function endWait(
  state: RunState,
  end:
    | { readonly type: "timeout"; readonly episode: number }
    | { readonly type: "response"; readonly episode: number; readonly result: FlowCallResult }
    | { readonly type: "reply"; readonly later: string },
): RunState | undefined {
  const { status, wait, episode } = state;
  if (status !== "waiting" || !wait) {
    return undefined;
  }
  const isEnded =
    end.type === "reply"
      ? wait.for === "reply" && (wait.after === null || wait.after < end.later)
      : end.episode === episode && (wait.for === "response") === (end.type === "response");
  const result = end.type === "response" ? { result: end.result } : {};
  return isEnded
    ? { ...state, status: "running", wait: { ...wait, ...result, ended_by: end.type }, due_at: null }
    : undefined;
}

export interface Step {
  readonly state: RunState;
  readonly outcome: string;
  readonly detail: Omit<FlowStepDetail, "missing" | "timed_out">;
}

/** The state after a node. `latestMessage` is the contact's latest one: a reply must come after it. */
export function applyOutcome(
  graph: Graph,
  before: RunState,
  { node, outcome, latestMessage }: { node: GraphNode; outcome: Outcome; latestMessage: string | null },
): Step {
  // A node that had waited is no longer among the pending ones.
  const rest = before.wait ? before.pending : before.pending.slice(1);
  const state = { ...before, pending: rest, steps: before.steps + 1, wait: null, due_at: null };
  const step = (after: RunState, name: string, detail: Partial<Step["detail"]> = {}): Step => ({
    state: limitSteps(after),
    outcome: name,
    detail: { next: [], message_id: null, error: null, ...detail },
  });
  const lead = (edge: Edge) => {
    const next = nextNodes(graph, node, edge);
    return { next, state: { ...state, pending: [...next, ...rest] } };
  };
  if (outcome.kind === "wait") {
    const { until, attempts = 0, message_id = null } = outcome;
    const wait = { node_id: node.id, for: outcome.for, after: latestMessage, attempts, ended_by: null };
    const waiting = { ...state, status: "waiting", wait, due_at: until.toISOString() } as const;
    return step({ ...waiting, episode: state.episode + 1 }, attempts > 0 ? "invalid" : "wait", {
      message_id,
    });
  }
  if (outcome.kind === "call") {
    const { request } = outcome;
    const wait = { node_id: node.id, for: "response", after: null, attempts: 0, ended_by: null } as const;
    const waiting = { ...state, status: "waiting", wait: { ...wait, request } } as const;
    return step({ ...waiting, episode: state.episode + 1 }, "call");
  }
  if (outcome.kind === "next") {
    const { edge, save = {}, message_id = null } = outcome;
    const { next, state: led } = lead(edge);
    const reason = edge.type === "timeout" && led.pending.length === 0 ? "no_reply" : null;
    const name = edge.type === "done" || edge.type === "condition" ? "next" : edge.type;
    return step({ ...led, reason, variables: { ...state.variables, ...save } }, name, { next, message_id });
  }
  if (outcome.kind === "error") {
    const { code, save = {} } = outcome;
    const { next, state: led } = lead({ type: "error" });
    const after: RunState = next.length > 0 ? led : { ...ended(state), status: "failed", reason: code };
    const variables = { ...state.variables, ...save };
    return step({ ...after, variables }, "error", { next, error: code });
  }
  if (outcome.kind === "handover") {
    return step({ ...ended(state), status: "completed", reason: "handed_over" }, "handover");
  }
  // What waits behind a goto or an end is left out: the run goes on in one place, or nowhere.
  const next = outcome.kind === "goto" ? [outcome.node_id] : [];
  return step({ ...state, pending: next }, outcome.kind, { next });
}

/** The state of a run that is over. */
export function ended(state: RunState): RunState {
  return { ...state, pending: [], wait: null, due_at: null };
}

function limitSteps(state: RunState): RunState {
  const isEndless = state.steps >= maxSteps && state.status === "running" && state.pending.length > 0;
  return isEndless ? { ...ended(state), status: "failed", reason: "step_limit" } : state;
}
