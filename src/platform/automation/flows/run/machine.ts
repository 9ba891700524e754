/**
 * The state of a run, and pure functions of it: `nextOf` returns what the run does next, `applyOutcome` the
 * state after a node has run, and `endWait` the state after the wait of a node has ended.
 *
 * A run is `running` while it has a node to run or its end action to do, `waiting` in a node until a reply, a
 * time or the response to a call, and then `completed`, `failed` or `cancelled`, which are final.
 *
 * `pending` has the nodes to run, the next one first: the children of a node come before the siblings behind
 * the node, so each branch runs to its end before the next branch. A node that waits is in `wait` and not in
 * `pending`. After `endWait` the run is `running`, and `wait` still names the node: the run continues with
 * this node.
 *
 * Each wait raises `episode`. A timeout or a response names its episode, and a reply must be newer than
 * `after`: so an event for an earlier wait changes nothing.
 */
import type { FlowCallResult, FlowStepDetail, FlowWait } from "../../../../database/schema/index.ts";
import { type Edge, type Graph, type GraphNode, nextNodes } from "../graph/index.ts";
import type { NodeOutcome } from "../nodes/index.ts";

/** A run that takes more steps is in an endless loop. */
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

/** What the run does next: a node, the end action, or nothing, because the run waits or has ended. */
export function nextOf(graph: Graph, { status, wait, pending }: RunState): GraphNode | "end" | undefined {
  if (status !== "running") {
    return undefined;
  }
  // A wait that has ended: the run continues with the node that waited.
  const id = wait?.node_id ?? pending[0];
  // A flow is not saved with a goto to an unknown node. If it had one, the run would end here.
  return id === undefined ? "end" : (graph.byId.get(id) ?? "end");
}

/** Drops what is left to do; the caller sets status and reason. */
export function clearWork(state: RunState): RunState {
  return { ...state, pending: [], wait: null, due_at: null };
}

/** What may end a wait: its timeout, the response to its call, or a message of the contact. */
export type WaitEvent =
  | { readonly type: "timeout"; readonly episode: number }
  | { readonly type: "response"; readonly episode: number; readonly result: FlowCallResult }
  | { readonly type: "reply"; readonly message_id: string };

/**
 * Ends the wait; undefined if the event does not end this wait. The run is then `running`, and `wait` still
 * names the node, and the run continues with this node.
 */
export function endWait(state: RunState, event: WaitEvent): RunState | undefined {
  const { status, wait } = state;
  if (status !== "waiting" || !wait || !isEndedBy(state, wait, event)) {
    return undefined;
  }
  const result = event.type === "response" ? { result: event.result } : {};
  return { ...state, status: "running", wait: { ...wait, ...result, ended_by: event.type }, due_at: null };
}

function isEndedBy({ episode }: RunState, wait: FlowWait, event: WaitEvent): boolean {
  if (event.type === "reply") {
    // A message from before the question does not reply to it.
    return wait.for === "reply" && (wait.after === null || wait.after < event.message_id);
  }
  // Only the response ends a wait for a response: the request has its own timeout.
  const expected = wait.for === "response" ? "response" : "timeout";
  return event.type === expected && event.episode === episode;
}

/** A node that has run, with its outcome. */
interface NodeResult<Kind extends NodeOutcome["kind"] = NodeOutcome["kind"]> {
  readonly node: GraphNode;
  readonly outcome: Extract<NodeOutcome, { readonly kind: Kind }>;
  /**
   * The id of the contact's latest message if the node waits for a reply, which must be a newer message;
   * otherwise null.
   */
  readonly latestMessage: string | null;
}

export interface Step {
  readonly state: RunState;
  /** The name of the outcome in the steps of the run. */
  readonly outcome: string;
  readonly detail: Omit<FlowStepDetail, "missing" | "timed_out">;
}

/** Returns the state after a node has run, and the description of the step. */
export function applyOutcome(graph: Graph, before: RunState, result: NodeResult): Step {
  // Removes the node from `pending`; a node that waited had left it already.
  const pending = before.wait ? before.pending : before.pending.slice(1);
  const left: RunState = { ...before, pending, steps: before.steps + 1, wait: null, due_at: null };
  const { kind } = result.outcome;
  const { state, outcome, detail } = outcomeHandlers[kind](graph, left, result);
  return {
    state: limitSteps(state),
    outcome: outcome ?? kind,
    detail: { next: [], message_id: null, error: null, ...detail },
  };
}

/** The differences of a step from the defaults, which `applyOutcome` adds. */
interface StepDraft {
  readonly state: RunState;
  /** Default: the kind of the outcome. */
  readonly outcome?: string;
  readonly detail?: Partial<Step["detail"]>;
}

/** `left` is the state of the run once it has left the node. */
type OutcomeHandler<Kind extends NodeOutcome["kind"]> = (
  graph: Graph,
  left: RunState,
  result: NodeResult<Kind>,
) => StepDraft;

const handlersByKind: { readonly [Kind in NodeOutcome["kind"]]: OutcomeHandler<Kind> } = {
  next(graph, left, { node, outcome: { edge, save, message_id = null } }) {
    const { next, state } = follow(graph, left, { node, edge });
    // The end action is next, and completes the run with this reason.
    const isUnanswered = edge.type === "timeout" && state.pending.length === 0;
    return {
      state: { ...withVariables(state, save), reason: isUnanswered ? "no_reply" : null },
      outcome: edge.type === "done" || edge.type === "condition" ? "next" : edge.type,
      detail: { next, message_id },
    };
  },

  wait(
    _graph,
    left,
    { node, outcome: { for: event, until, attempts = 0, message_id = null }, latestMessage },
  ) {
    const wait = { node_id: node.id, for: event, after: latestMessage, attempts, ended_by: null };
    return {
      state: { ...waitIn(left, wait), due_at: until.toISOString() },
      outcome: attempts > 0 ? "invalid" : "wait",
      detail: { message_id },
    };
  },

  call(_graph, left, { node, outcome: { request } }) {
    const wait = {
      node_id: node.id,
      for: "response",
      after: null,
      attempts: 0,
      ended_by: null,
      request,
    } as const;
    return { state: waitIn(left, wait) };
  },

  error(graph, left, { node, outcome: { code, save } }) {
    const { next, state } = follow(graph, left, { node, edge: { type: "error" } });
    const handled: RunState =
      next.length > 0 ? state : { ...clearWork(left), status: "failed", reason: code };
    return { state: withVariables(handled, save), detail: { next, error: code } };
  },

  // Drops the pending nodes: the run continues only at this node.
  goto: (_graph, left, { outcome: { node_id } }) => ({
    state: { ...left, pending: [node_id] },
    detail: { next: [node_id] },
  }),

  // No nodes are left, so the end action is next.
  end: (_graph, left) => ({ state: { ...left, pending: [] } }),

  handover: (_graph, left) => ({ state: { ...clearWork(left), status: "completed", reason: "handed_over" } }),
};

// The handler of a kind gets results of that kind only; TypeScript does not connect the two.
const outcomeHandlers = handlersByKind as Readonly<
  Record<NodeOutcome["kind"], OutcomeHandler<NodeOutcome["kind"]>>
>;

/** Adds the nodes that follow on this edge, before the pending nodes. */
function follow(graph: Graph, left: RunState, { node, edge }: { node: GraphNode; edge: Edge }) {
  const next = nextNodes(graph, node, edge);
  return { next, state: { ...left, pending: [...next, ...left.pending] } };
}

function waitIn(left: RunState, wait: FlowWait): RunState {
  return { ...left, status: "waiting", wait, episode: left.episode + 1 };
}

function withVariables(state: RunState, save: RunState["variables"] = {}): RunState {
  return { ...state, variables: { ...state.variables, ...save } };
}

function limitSteps(state: RunState): RunState {
  const isEndless = state.steps >= maxSteps && state.status === "running" && state.pending.length > 0;
  return isEndless ? { ...clearWork(state), status: "failed", reason: "step_limit" } : state;
}
