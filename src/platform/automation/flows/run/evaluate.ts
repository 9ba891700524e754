/**
 * What one step of a run results in: a node, or the end action. It changes nothing itself: the node acts through `actions`, and
 * the caller keeps the state. `step.ts` runs it with the real actions, the rehearsal with actions that only record.
 */
import type { FlowWait } from "../../../../database/schema/index.ts";
import { matchesQuery, parseQuery } from "../../../foundation/query/index.ts";
import { awaitsButton, type Graph, type GraphNode } from "../graph/index.ts";
import {
  type Actions,
  flowAttributes,
  type NodeContext,
  type Outcome,
  replyTests,
  runNode,
  type WaitEnd,
} from "../nodes/index.ts";
import type { MatchPattern, Verdicts } from "../texts/patterns.ts";
import { renderJson, renderText } from "../texts/placeholders.ts";
import { doEndAction } from "./end-action.ts";
import { applyOutcome, clearWork, nextOf, type RunState } from "./machine.ts";
import type { NewStep } from "./rows.ts";
import { createReader, type InboundText, readFacts, type Sources } from "./subject.ts";

/** The type and the config of the end action. */
export type EndAction = Parameters<typeof doEndAction>[1];

interface Evaluation {
  readonly state: RunState;
  readonly now: Date;
  readonly actions: Actions;
  readonly endAction: EndAction;
  /** What the step has failed with already: it is not run again. Null: it is run. */
  readonly failureCode: string | null;
}

interface NodeEvaluation extends Evaluation {
  readonly graph: Graph;
  readonly node: GraphNode;
  readonly sources: Omit<Sources, "variables">;
  /** Knows those on `testsOfNext`. */
  readonly verdicts: Verdicts;
  /** The id of the contact's latest message, of which only a later one is a reply. */
  latestMessage(): Promise<string | null>;
}

/** What the next step is evaluated with, a node or the end action. */
type StepEvaluation = Omit<NodeEvaluation, "node">;

/** What a step results in; there is no `step` without an end action. */
interface StepResult {
  readonly state: RunState;
  readonly step: NewStep | null;
}

/** The regular expressions whose verdicts the next node needs. */
export function testsOfNext(graph: Graph, state: RunState, message: InboundText | undefined) {
  const next = nextOf(graph, state);
  return next && next !== "end" ? testsOf(graph, next, state, message) : [];
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

/** A Failure that the node throws is for the caller to record, by another evaluation with its code. */
async function evaluateNode(evaluation: NodeEvaluation): Promise<StepResult> {
  const { state: before, graph, node, endAction, failureCode, verdicts } = evaluation;
  const { message } = evaluation.sources;
  const missing: string[] = [];
  const end = before.wait ? endOf(before.wait, message, verdicts.matches) : null;
  const outcome: Outcome =
    failureCode === null
      ? limitVariables(before, await runNode(node, createContext(evaluation, missing), end))
      : { kind: "error", code: failureCode };
  const isForReply = outcome.kind === "wait" && outcome.for === "reply";
  const latestMessage = isForReply ? await evaluation.latestMessage() : null;
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

/** As JSON, which is written with each step: several large responses of endpoints. */
const maxVariables = 262_144;

/** An error if the variables of the run would be too large; then nothing is saved. */
function limitVariables({ variables }: RunState, outcome: Outcome): Outcome {
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

/** `missing` receives the placeholders without a value. */
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
        readFacts(sources),
        now,
      ),
  };
}

/** A reply whose message is gone counts as none. */
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
