/**
 * Runs a graph from its first node to its end, with the steps of real runs, the customer's script and a
 * simulated clock.
 */
import type { z } from "zod";
import { Failure } from "../../../../../tools/contract/index.ts";
import { failField } from "../../../../../tools/errors.ts";
import { type flows as contract, durationMs, type FlowRehearsal } from "../../../../../tools/flows/index.ts";
import type { FlowCallResult } from "../../../../database/schema/index.ts";
import { pause } from "../../../../time/pauses.ts";
import type { Choice, Graph } from "../graph/index.ts";
import type { Actions } from "../nodes/index.ts";
import {
  beginRun,
  clearWork,
  type EndActionWithConfig,
  endWait,
  evaluateNext,
  type InboundText,
  type RunState,
  testsOfNext,
} from "../run/index.ts";
import { normalize } from "../texts/keywords.ts";
import type { Verdicts } from "../texts/patterns.ts";
import { idOf, moveTo, receive, type Stage } from "./stage.ts";

type Script = z.output<typeof contract.rehearse_flow.input>["script"];
type Responses = NonNullable<z.output<typeof contract.rehearse_flow.input>["responses"]>;
type Path = z.input<typeof FlowRehearsal>["path"];

/** How long the customer takes to answer if the script does not say. */
const answerMs = 5_000;

interface Plan {
  readonly graph: Graph;
  readonly endAction: EndActionWithConfig;
  readonly actions: Actions;
  readonly script: Script;
  /** The results of calls, by the id of the node. */
  readonly responses: Responses;
  readonly verdicts: Verdicts;
}

/** A run in progress. */
interface Course extends Plan {
  readonly stage: Stage;
  readonly path: Path;
  state: RunState;
  /** The message that started the run, or the latest reply in it. */
  message: InboundText | undefined;
  /** The next entry of the script. */
  position: number;
  /** The time of the customer's last action. */
  eventAt: Date;
}

/** `message` starts the run. @throws Failure `choice_not_sent`. */
export async function runRehearsal(stage: Stage, plan: Plan, message: InboundText | undefined) {
  const state = beginRun(plan.graph);
  const course: Course = { ...plan, stage, path: [], state, message, position: 0, eventAt: stage.now };
  for (;;) {
    const { status, reason, variables } = course.state;
    if (status === "waiting") {
      endWaiting(course);
    } else if (status !== "running") {
      const unused_script = plan.script.slice(course.position);
      return { status, reason, variables, path: course.path, unused_script };
    } else if (stage.scene.contact.blocked_at !== null) {
      course.state = { ...clearWork(course.state), status: "cancelled", reason: "blocked" };
    } else {
      // Yields to the event loop, because the steps may not wait for anything.
      await pause();
      await takeStep(course);
    }
  }
}

/** A step that fails is evaluated again with its error as its result, as in a real run. */
async function takeStep(course: Course): Promise<void> {
  const { stage } = course;
  const before = { ...stage.scene, did: [] };
  stage.scene = before;
  try {
    await evaluate(course, null);
  } catch (error) {
    if (!(error instanceof Failure)) {
      throw error;
    }
    stage.scene = before;
    await evaluate(course, error.code);
  }
}

async function evaluate(course: Course, failureCode: string | null): Promise<void> {
  const { stage, graph, state, actions, endAction, message, verdicts } = course;
  await verdicts.learn(testsOfNext(graph, state, message));
  const result = await evaluateNext({
    state,
    now: stage.now,
    actions,
    endAction,
    failureCode,
    graph,
    verdicts,
    sources: { ...stage.scene, message },
    latestMessage: latestInbound(stage),
  });
  course.state = result.state;
  if (result.step) {
    course.path.push(describeStep(stage, result.step, result.state));
  }
}

/**
 * Moves the clock to the end of the wait or to the customer's next action, whichever is earlier. The action
 * may end the wait.
 */
function endWaiting(course: Course): void {
  const { stage, state, path } = course;
  if (state.wait?.for === "response") {
    endStep(path, "response");
    const result = readResponse(course.responses[state.wait.node_id]);
    course.state = endWait(state, { type: "response", episode: state.episode, result }) ?? state;
    return;
  }
  const due = new Date(state.due_at ?? stage.now);
  const time = nextEventAt(course, due);
  moveTo(stage, time ?? due);
  if (time === undefined) {
    endStep(path, state.wait?.for === "time" ? "time" : "timeout");
    course.state = endWait(state, { type: "timeout", episode: state.episode }) ?? state;
  } else if (takeEntry(course)) {
    endStep(path, "reply");
  }
}

function readResponse({ status = 200, body = null, error }: Responses[string] = {}): FlowCallResult {
  return error === undefined ? { status, body } : { error };
}

/** The time of the customer's next action; undefined if it is not before `due`. */
function nextEventAt({ stage, state, script, position, eventAt }: Course, due: Date): Date | undefined {
  const entry = script[position];
  if (entry?.after !== undefined) {
    const time = new Date(eventAt.getTime() + durationMs(entry.after));
    return time < due ? time : undefined;
  }
  if (!entry || state.wait?.for !== "reply") {
    return undefined;
  }
  const delay = Math.min(answerMs, (due.getTime() - stage.now.getTime()) / 2);
  return new Date(stage.now.getTime() + delay);
}

/** Performs the next entry of the script. @returns whether it ended the wait. */
function takeEntry(course: Course): boolean {
  const { stage, state, script, position } = course;
  const { text, button } = script[position] ?? {};
  const choice = button === undefined ? undefined : findChoice(stage, button, `script[${position}].button`);
  course.position = position + 1;
  course.eventAt = stage.now;
  if (text === undefined && !choice) {
    return false;
  }
  const message = receive(stage, text ?? "", { choice, isTaken: state.wait?.for === "reply" });
  // As with real messages, a run gets no reply in a conversation that is spam.
  const isGiven = stage.scene.conversation.status !== "spam";
  const resumed = isGiven ? endWait(state, { type: "reply", message_id: message.message_id }) : undefined;
  if (resumed) {
    course.state = resumed;
    course.message = message;
  }
  return resumed !== undefined;
}

type StepResult = NonNullable<Awaited<ReturnType<typeof evaluateNext>>["step"]>;

function describeStep(stage: Stage, { detail, ...step }: StepResult, state: RunState): Path[number] {
  const { next, message_id, error, missing, timed_out } = detail;
  const { did } = stage.scene;
  const { wait, due_at, status } = state;
  const at = stage.now.toISOString();
  return {
    ...step,
    at,
    ...(next.length > 0 ? { next: [...next] } : {}),
    ...(message_id === null ? {} : { message: Number(message_id) }),
    ...(did.length > 0 ? { did: [...did] } : {}),
    ...(wait?.request && !wait.ended_by ? { did: [`${wait.request.method} ${wait.request.url}`] } : {}),
    // `endStep` replaces `ended_by` when the wait ends.
    ...(status === "waiting" && wait ? { wait: { for: wait.for, until: due_at, ended_by: "timeout" } } : {}),
    ...(error === null ? {} : { error }),
    ...(missing.length > 0 ? { missing: [...missing] } : {}),
    ...(timed_out ? { timed_out: [...timed_out] } : {}),
  };
}

/** Records in the latest step, which waits, what ended its wait. */
function endStep(path: Path, ended_by: NonNullable<Path[number]["wait"]>["ended_by"]): void {
  const last = path.pop();
  if (last?.wait) {
    path.push({ ...last, wait: { ...last.wait, ended_by } });
  }
}

function latestInbound({ scene: { messages } }: Stage): string | null {
  const last = messages.findLast(({ from }) => from === "customer");
  return last ? idOf(last.number) : null;
}

/** @throws Failure `choice_not_sent`. */
function findChoice({ scene: { choices } }: Stage, button: string, field: string): Choice {
  const written = normalize(button);
  const choice = choices.find(({ id, title }) => id === button || normalize(title) === written);
  if (!choice) {
    const known = choices.slice(0, 10).map(({ id, title }) => `${title} (${id})`);
    throw failField(field, "choice_not_sent", { value: button, known: known.join(", ") || "none" });
  }
  return choice;
}
