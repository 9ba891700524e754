/**
 * Runs one node of a run, with everything that it changes, in one transaction.
 *
 * So after a crash the run stands before the node or behind it, and a message is sent once. A node that fails is rolled back; the
 * failure is its result, which a second transaction records.
 */
import { Failure } from "../../../../tools/contract/index.ts";
import type { Transaction } from "../../../database/database.ts";
import { newJob } from "../../../jobs/job.ts";
import type { OrganizationChange, World } from "../../kernel/index.ts";
import { matchesQuery, parseQuery } from "../../query/index.ts";
import { awaitsButton, type Graph, type GraphNode, toGraph } from "../graph/index.ts";
import {
  type Actions,
  flowAttributes,
  type NodeContext,
  type Outcome,
  runNode,
  type WaitEnd,
} from "../nodes/index.ts";
import { renderText } from "../texts.ts";
import { createActions } from "./actions.ts";
import { doEndAction } from "./end-action.ts";
import { resumeJobType } from "./job-types.ts";
import { applyOutcome, ended, nextOf, type RunState } from "./machine.ts";
import { insertStep, keyOf, lockRun, type RunKey, type RunRow, storeRun } from "./rows.ts";
import { startOtherFlow } from "./start-other.ts";
import {
  createReader,
  type InboundText,
  latestInbound,
  lockSubject,
  readFacts,
  readInbound,
  readRunVersion,
  type Subject,
} from "./subject.ts";

/** Runs the next node, or the end action. @returns whether there is more to do now. */
export async function takeStep(world: World, key: RunKey): Promise<boolean> {
  // The step that failed: only its result is recorded.
  let failedStep = -1;
  const onBegin = (steps: number) => {
    failedStep = steps;
  };
  try {
    return await world.database.transaction((tx) => executeStep(tx, { world, key, onBegin }));
  } catch (error) {
    if (!(error instanceof Failure)) {
      throw error;
    }
    const failure = { code: error.code, step: failedStep };
    return world.database.transaction((tx) => executeStep(tx, { world, key, failure }));
  }
}

interface StepOptions {
  readonly world: World;
  readonly key: RunKey;
  readonly onBegin?: (steps: number) => void;
  /** What the node resulted in, which is not run again. */
  readonly failure?: { readonly code: string; readonly step: number };
}

async function executeStep(tx: Transaction, { world, key, onBegin, failure }: StepOptions): Promise<boolean> {
  const { contact, conversation } = await lockSubject(tx, key);
  const run = await lockRun(tx, key);
  if (run?.status !== "running") {
    return false;
  }
  if (failure && failure.step !== run.steps) {
    // Another process has run the node in between.
    return true;
  }
  const now = world.now();
  const version = await readRunVersion(tx, run);
  if (!version || !contact || !conversation || contact.blocked_at !== null) {
    const reason = !contact || !conversation ? "contact_erased" : version ? "blocked" : "flow_deleted";
    await storeRun({ tx, now }, run, { ...ended(run), status: "cancelled", reason });
    return false;
  }
  onBegin?.(run.steps);
  const actor = { type: "flow", id: run.flow_id, name: version.name, scopes: new Set<never>() } as const;
  const change = { tx, world, now, actor, organization: run.organization_id };
  const actions = createActions(change, { contact, conversation }, (flow_id) =>
    startOtherFlow(change, { flow_id, run, conversation }),
  );
  const step = { change, run, version, actions, failureCode: failure?.code ?? null };
  const graph = toGraph(version.nodes);
  const node = nextOf(graph, run);
  return node === "end" || !node
    ? finish(step)
    : executeNode({ ...step, graph, node, contact, conversation });
}

interface Step {
  readonly change: OrganizationChange;
  readonly run: RunRow;
  readonly version: NonNullable<Awaited<ReturnType<typeof readRunVersion>>>;
  readonly actions: Actions;
  readonly failureCode: string | null;
}

interface NodeStep extends Step, Subject {
  readonly graph: Graph;
  readonly node: GraphNode;
}

async function executeNode(step: NodeStep): Promise<boolean> {
  const { change, run, version, graph, node, failureCode } = step;
  const { tx, organization } = change;
  const message = await readInbound(tx, organization, run.message_id);
  const missing: string[] = [];
  const context = createContext(step, message, missing);
  const end = run.wait ? endOf(run.wait.ended_by, message) : null;
  const outcome: Outcome =
    failureCode === null ? await runNode(node, context, end) : { kind: "error", code: failureCode };
  const isForReply = outcome.kind === "wait" && outcome.for === "reply";
  const latestMessage = isForReply ? await latestInbound(tx, step.conversation) : null;
  const result = applyOutcome(graph, run, { node, outcome, latestMessage });
  const isOver = nextOf(graph, result.state) === "end" && version.end_action_type === "none";
  const state: RunState = isOver ? { ...result.state, status: "completed" } : result.state;
  await storeRun(change, run, state);
  await insertStep(change, run, {
    ...{ number: state.steps, node_id: node.id, node_type: node.node_type, outcome: result.outcome },
    detail: { ...result.detail, missing },
  });
  await enqueueResume(change, run, state);
  return state.status === "running";
}

/** `missing` receives the placeholders without a value. */
function createContext(
  { change: { now }, run, actions, graph, node, contact, conversation }: NodeStep,
  message: InboundText | undefined,
  missing: string[],
): NodeContext {
  const sources = { contact, conversation, message, variables: run.variables };
  const read = createReader(sources);
  return {
    ...{ node, now, actions, attempts: run.wait?.attempts ?? 0 },
    awaitsButton: awaitsButton(graph, node.id),
    render(template) {
      const rendered = renderText(template, read);
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
function endOf(ended_by: "reply" | "timeout" | null, message: InboundText | undefined): WaitEnd {
  return ended_by === "reply" && message ? { type: "reply", reply: message } : { type: "timeout" };
}

/** Ends the wait at its time, unless a reply does. */
async function enqueueResume({ tx, world }: OrganizationChange, run: RunRow, state: RunState): Promise<void> {
  if (state.status === "waiting" && state.due_at !== null) {
    const payload = { ...keyOf(run), episode: state.episode };
    const options = { runAt: new Date(state.due_at), subject: run.conversation_id };
    await world.jobs.enqueueAll(tx, [newJob(resumeJobType, payload, options)]);
  }
}

/** Does the end action and ends the run. */
async function finish({ change, run, version, actions, failureCode }: Step): Promise<false> {
  const { end_action_type } = version;
  if (failureCode === null) {
    await doEndAction(actions, version, change.now);
  }
  const steps = run.steps + 1;
  if (end_action_type !== "none") {
    await insertStep(change, run, {
      ...{ number: steps, node_id: "end_action", node_type: end_action_type },
      outcome: failureCode === null ? "next" : "error",
      detail: { next: [], message_id: null, error: failureCode, missing: [] },
    });
  }
  const result =
    failureCode === null
      ? ({ status: "completed", reason: run.reason } as const)
      : ({ status: "failed", reason: failureCode } as const);
  await storeRun(change, run, { ...ended(run), steps, ...result });
  return false;
}
