/**
 * The state of a run, as pure functions: `nextOf` says what it does next, `applyOutcome` what a node makes of it, and `endWait`
 * what ends a wait.
 *
 * A run is `running` while it has a node to run or its end action to do, `waiting` in a node until a reply, a time or the
 * response to a call, and then `completed`, `failed` or `cancelled`, which are final. `pending` has the nodes to run, the next
 * one first: the children of a node come before the siblings that wait behind it, so each branch runs to its end before the
 * next one. A node that waits is in `wait` and not in `pending`. Each wait raises `episode`; what ends a wait names its episode,
 * so the loser of a race changes nothing.
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

/** The state of a run that is over. */
export function ended(state: RunState): RunState {
  return { ...state, pending: [], wait: null, due_at: null };
}

/** What may end a wait: its time, the response to its call, or a message of the contact. */
export type WaitEvent =
  | { readonly type: "timeout"; readonly episode: number }
  | { readonly type: "response"; readonly episode: number; readonly result: FlowCallResult }
  | { readonly type: "reply"; readonly message_id: string };

/** Ends the wait, so that its node goes on; undefined if the event does not end this wait. */
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
    // An earlier message than the question is no reply to it.
    return wait.for === "reply" && (wait.after === null || wait.after < event.message_id);
  }
  const isForResponse = wait.for === "response";
  return event.episode === episode && isForResponse === (event.type === "response");
}

/** What a node has resulted in. */
interface Visit<Kind extends Outcome["kind"] = Outcome["kind"]> {
  readonly node: GraphNode;
  readonly outcome: Extract<Outcome, { readonly kind: Kind }>;
  /** The id of the contact's latest message, for a wait for a reply, which must come after it. */
  readonly latestMessage: string | null;
}

export interface Step {
  readonly state: RunState;
  /** Its name in the steps of the run. */
  readonly outcome: string;
  readonly detail: Omit<FlowStepDetail, "missing" | "timed_out">;
}

/** The state after a node, and how the step is described. */
export function applyOutcome(graph: Graph, before: RunState, visit: Visit): Step {
  // The node is no longer among the pending ones; one that had waited was not.
  const pending = before.wait ? before.pending : before.pending.slice(1);
  const left: RunState = { ...before, pending, steps: before.steps + 1, wait: null, due_at: null };
  const { state, outcome, detail } = transitions[visit.outcome.kind](graph, left, visit);
  return {
    state: limitSteps(state),
    outcome: outcome ?? visit.outcome.kind,
    detail: { next: [], message_id: null, error: null, ...detail },
  };
}

/** What an outcome adds to a step; without a name, the step is named for the kind of outcome. */
interface Transition {
  readonly state: RunState;
  readonly outcome?: string;
  readonly detail?: Partial<Step["detail"]>;
}

/** `left` is the state of the run once it has left the node. */
type Transit<Kind extends Outcome["kind"]> = (graph: Graph, left: RunState, visit: Visit<Kind>) => Transition;

const transitionOf: { readonly [Kind in Outcome["kind"]]: Transit<Kind> } = {
  next(graph, left, { node, outcome: { edge, save, message_id = null } }) {
    const { next, state } = follow(graph, left, { node, edge });
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
    const handled: RunState = next.length > 0 ? state : { ...ended(left), status: "failed", reason: code };
    return { state: withVariables(handled, save), detail: { next, error: code } };
  },

  // A goto and an end drop the pending nodes: the run goes on in one place, or nowhere.
  goto: (_graph, left, { outcome: { node_id } }) => ({
    state: { ...left, pending: [node_id] },
    detail: { next: [node_id] },
  }),

  end: (_graph, left) => ({ state: { ...left, pending: [] } }),

  handover: (_graph, left) => ({ state: { ...ended(left), status: "completed", reason: "handed_over" } }),
};

// The table has the function for this kind of outcome; TypeScript does not connect the two.
const transitions = transitionOf as Readonly<Record<Outcome["kind"], Transit<Outcome["kind"]>>>;

/** Adds the nodes that follow on this edge, before those that are pending. */
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
  return isEndless ? { ...ended(state), status: "failed", reason: "step_limit" } : state;
}
