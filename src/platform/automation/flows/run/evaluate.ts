/**
 * Evaluates one step of a run: a node, or the end action. Changes nothing itself: the node acts through
 * `actions`, and the caller stores the state. `step.ts` passes the real actions; the rehearsal passes actions
 * that only record.
 */
import type { FlowWait } from "../../../../database/schema/index.ts";
import { matchesQuery, parseQuery } from "../../../foundation/query/index.ts";
import { awaitsButton, type Graph, type GraphNode } from "../graph/index.ts";
import {
  type Actions,
  flowAttributes,
  type NodeContext,
  type NodeOutcome,
  replyTests,
  runNode,
  sharesTransaction,
  type WaitEnd,
} from "../nodes/index.ts";
import type { MatchPattern, Verdicts } from "../texts/patterns.ts";
import { renderJson, renderText } from "../texts/placeholders.ts";
import { doEndAction } from "./end-action.ts";
import { applyOutcome, clearWork, nextOf, type RunState } from "./machine.ts";
import type { NewStep } from "./rows.ts";
import { createReader, type InboundText, type RunSources, readRunFacts } from "./subject.ts";

/** The type and the config of the end action. */
export type EndActionWithConfig = Parameters<typeof doEndAction>[1];

interface Evaluation {
  readonly state: RunState;
  readonly now: Date;
  readonly actions: Actions;
  readonly endAction: EndActionWithConfig;
  /**
   * The code of an error with which the step has failed: then the step is not run again. Null: the step is
   * run.
   */
  readonly failureCode: string | null;
}

interface NodeEvaluation extends Evaluation {
  readonly graph: Graph;
  readonly node: GraphNode;
  readonly sources: Omit<RunSources, "variables">;
  /** Must know the verdicts on `testsOfNext`. */
  readonly verdicts: Verdicts;
  /** The id of the contact's latest message. Only a later message is a reply. */
  readonly latestMessage: string | null;
}

/** The input of the next step, which is a node or the end action. */
type StepEvaluation = Omit<NodeEvaluation, "node">;

/** The result of a step. `step` is null if there is no end action. */
interface StepResult {
  readonly state: RunState;
  readonly step: NewStep | null;
}

/** The regular expressions whose verdicts the next node needs. */
export function testsOfNext(graph: Graph, state: RunState, message: InboundText | undefined) {
  const next = nextOf(graph, state);
  return next && next !== "end" ? testsOf(graph, next, state, message) : [];
}

/**
 * Whether the next step may run in a transaction with steps of other runs. The end action may not, because it
 * changes the conversation's agent or status, and so the queue of the organization.
 */
export function mayShareNext(graph: Graph, state: RunState): boolean {
  const next = nextOf(graph, state);
  return next !== undefined && next !== "end" && sharesTransaction(next);
}

/** Evaluates the next node, or the end action. */
export async function evaluateNext(evaluation: StepEvaluation): Promise<StepResult> {
  const node = nextOf(evaluation.graph, evaluation.state);
  return node === "end" || !node ? evaluateEnd(evaluation) : evaluateNode({ ...evaluation, node });
}

/** The regular expressions whose verdicts a node needs, because a reply has ended its wait. */
function testsOf(graph: Graph, node: GraphNode, { wait }: RunState, message: InboundText | undefined) {
  return wait?.ended_by === "reply" && message ? replyTests(graph, node, message) : [];
}

/** Lets a Failure that the node throws pass. The caller records it by another evaluation with the code. */
async function evaluateNode(evaluation: NodeEvaluation): Promise<StepResult> {
  const { state: before, graph, node, endAction, failureCode, verdicts } = evaluation;
  const { message } = evaluation.sources;
  const missing: string[] = [];
  const end = before.wait ? endOf(before.wait, message, verdicts.matches) : null;
  const outcome: NodeOutcome =
    failureCode === null
      ? limitVariables(before, await runNode(node, createContext(evaluation, missing), end))
      : { kind: "error", code: failureCode };
  const isForReply = outcome.kind === "wait" && outcome.for === "reply";
  const latestMessage = isForReply ? evaluation.latestMessage : null;
  const result = applyOutcome(graph, before, { node, outcome, latestMessage });
  const tests = testsOf(graph, node, before, message);
  const timed_out = tests.filter(verdicts.isTimedOut).map(({ node_id }) => node_id);
  const isOver = nextOf(graph, result.state) === "end" && endAction.end_action_type === "none";
  return {
    state: isOver ? { ...result.state, status: "completed" } : result.state,
    step: {
      number: result.state.steps,
      node_id: node.id,
      node_type: node.node_type,
      outcome: result.outcome,
      detail: {
        ...result.detail,
        missing: [...new Set(missing)],
        ...(timed_out.length > 0 ? { timed_out } : {}),
      },
    },
  };
}

/** The size as JSON, which is written with each step. Enough for several large responses of endpoints. */
const maxVariables = 262_144;

/** Returns an error if the variables of the run would be too large; then nothing is saved. */
function limitVariables({ variables }: RunState, outcome: NodeOutcome): NodeOutcome {
  const save = "save" in outcome ? outcome.save : undefined;
  const isTooLarge = save && JSON.stringify({ ...variables, ...save }).length > maxVariables;
  return isTooLarge ? { kind: "error", code: "variables_too_large" } : outcome;
}

/** Does the end action and ends the run. */
async function evaluateEnd({
  state: before,
  now,
  actions,
  endAction,
  failureCode,
}: Evaluation): Promise<StepResult> {
  const { end_action_type } = endAction;
  if (failureCode === null) {
    await doEndAction(actions, endAction, now);
  }
  const steps = before.steps + 1;
  const detail = { next: [], message_id: null, error: failureCode, missing: [] };
  const outcome = failureCode === null ? "next" : "error";
  const result =
    failureCode === null
      ? ({ status: "completed", reason: before.reason } as const)
      : ({ status: "failed", reason: failureCode } as const);
  return {
    state: { ...clearWork(before), steps, ...result },
    step:
      end_action_type === "none"
        ? null
        : { number: steps, node_id: "end_action", node_type: end_action_type, outcome, detail },
  };
}

/** `missing` collects the placeholders without a value. */
function createContext(
  { state, graph, node, now, actions, sources: facts }: NodeEvaluation,
  missing: string[],
): NodeContext {
  const sources = { ...facts, variables: state.variables };
  const read = createReader(sources);
  return {
    node,
    now,
    actions,
    attempts: state.wait?.attempts ?? 0,
    awaitsButton: awaitsButton(graph, node.id),
    render(template, form) {
      const rendered = renderText(template, { ...form, read });
      missing.push(...rendered.missing);
      return rendered.text;
    },
    renderJson(template, maxLength) {
      const rendered = renderJson(template, { read, maxLength });
      missing.push(...rendered.missing);
      return rendered.text;
    },
    matches: (query) =>
      matchesQuery(
        parseQuery(query, { field: "query", attributes: flowAttributes }),
        readRunFacts(sources),
        now,
      ),
  };
}

/** A reply whose message was deleted counts as no reply. */
function endOf(
  { ended_by, result }: FlowWait,
  message: InboundText | undefined,
  matches: MatchPattern,
): WaitEnd {
  if (ended_by === "response" && result) {
    return { type: "response", result };
  }
  return ended_by === "reply" && message ? { type: "reply", reply: message, matches } : { type: "timeout" };
}
