/**
 * Runs the next steps of runs in a transaction: locks and reads their rows, evaluates the steps, stores the
 * results.
 *
 * Several runs of one organization take their steps side by side, with as many statements as one run: their
 * messages are sent together, and only a change of a contact costs a statement of its own. A run leaves them
 * before a node that may not share a transaction (`sharesTransaction`).
 */

import { Failure } from "../../../../../tools/contract/index.ts";
import { together } from "../../../../database/transaction.ts";
import { newJob } from "../../../../jobs/job.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import { lockSubjects, type Subject } from "../../../inbox/conversations/index.ts";
import type { VerdictAttempt, Verdicts } from "../texts/patterns.ts";
import { createActions } from "./actions.ts";
import { type BegunRun, beginRuns } from "./begin.ts";
import { evaluateNext, mayShareNext, testsOfNext } from "./evaluate.ts";
import { callJobType, resumeJobType } from "./job-types.ts";
import { nextOf, type RunState } from "./machine.ts";
import {
  insertSteps,
  keyOf,
  type NewStep,
  type RunKey,
  type RunRow,
  reportFailure,
  storeRuns,
} from "./rows.ts";
import { startOtherFlow } from "./start-other.ts";

/** A run whose next steps are to be run. */
export interface StepsTask {
  readonly organization_id: string;
  readonly key: RunKey;
  readonly verdicts: Verdicts;
  /** The W3C trace context that its messages and jobs continue. */
  readonly traceparent: string | undefined;
}

export interface StepsOptions {
  /** How many steps each run takes at most. */
  readonly limit: number;
  /** If false, a run that another transaction has locked takes no steps. */
  readonly waitsForLocks: boolean;
  /**
   * The failure of the next step in a transaction that was rolled back. It is recorded as the step's result,
   * and the step is not run again. Only for one run, with the limit 1.
   */
  readonly failure?: StepFailure | undefined;
}

/** How many steps a running run has taken. A run that waits or has ended has nothing to do now. */
export type Progress = { readonly isRunning: true; readonly steps: number } | { readonly isRunning: false };

/** A node or the end action has failed, so its transaction must be rolled back. */
export class StepFailure extends Error {
  readonly code: string;
  /** How many steps the run had taken before this one. */
  readonly step: number;

  constructor(cause: Failure, step: number) {
    super(cause.message, { cause });
    this.code = cause.code;
    this.step = step;
  }
}

/** The result for a run; undefined if its next step must run without other runs. */
type Attempt = VerdictAttempt<Progress> | undefined;

/**
 * Runs up to `limit` steps of each run.
 *
 * A regular expression must not run in the transaction. If the next node of a run needs one whose verdict is
 * unknown, the tests are returned; the caller evaluates them and calls again.
 *
 * @returns the results in the order of the tasks.
 * @throws StepFailure
 */
export async function runSteps(
  tx: Transaction,
  world: World,
  tasks: readonly StepsTask[],
  { limit, waitsForLocks, failure }: StepsOptions,
): Promise<readonly Attempt[]> {
  const [{ organization_id: organization } = { organization_id: "" }] = tasks;
  const first = firstOfContacts(tasks);
  const keys = first.map(({ key }) => key);
  const beginnings = await beginRuns(tx, world, { organization, keys, waitsForLocks });
  const attempts = new Map<StepsTask, Attempt>();
  const tracks: Track[] = [];
  for (const [index, task] of first.entries()) {
    const begun = beginnings[index] ?? "locked";
    const attempt = typeof begun === "string" ? unbegun[begun] : findAttempt(begun, task, failure);
    attempts.set(task, attempt);
    if (typeof begun === "object" && !attempt) {
      tracks.push({ ...begun, task, state: begun.run, steps: [] });
    }
  }
  const isAlone = tracks.length === 1;
  const mayContinue = ({ graph, state }: Track) =>
    state.status === "running" && (isAlone || mayShareNext(graph, state));
  for (let count = 0; count < limit; count += 1) {
    const active = tracks.filter(mayContinue);
    if (active.length === 0) {
      break;
    }
    if (count > 0) {
      // The steps before may have changed the contacts and the conversations.
      await rereadSubjects(tx, organization, active);
    }
    await together(...active.map((track) => takeStep(track, failure)));
  }
  await store({ tx, now: world.now() }, organization, tracks);
  for (const track of tracks) {
    const isDone = track.state.status !== "running" || mayContinue(track);
    attempts.set(track.task, isDone ? { result: progressOf(track.state) } : undefined);
  }
  return tasks.map((task) => attempts.get(task));
}

/** The other tasks of a contact run without other runs: two runs must not change one contact side by side. */
function firstOfContacts(tasks: readonly StepsTask[]): readonly StepsTask[] {
  const contacts = new Set<string>();
  return tasks.filter(({ key: { contact_id } }) => {
    const isFirst = !contacts.has(contact_id);
    contacts.add(contact_id);
    return isFirst;
  });
}

const unbegun = { idle: { result: { isRunning: false } }, locked: undefined } as const;

/** The result of a run that takes no step; undefined if it takes steps. */
function findAttempt(
  { run, graph, message }: BegunRun,
  { verdicts }: StepsTask,
  failure: StepFailure | undefined,
): Attempt {
  if (failure && failure.step !== run.steps) {
    // Another process has run the failed step since.
    return { result: progressOf(run) };
  }
  // Only the first node of a transaction can go on from a wait, so only this node can have a reply to test.
  const tests = testsOfNext(graph, run, message);
  return verdicts.isKnown(tests) ? undefined : { unknown: tests };
}

function progressOf({ status, steps }: RunState): Progress {
  return status === "running" ? { isRunning: true, steps } : { isRunning: false };
}

/** A run that takes steps, and what they have changed. */
interface Track extends Omit<BegunRun, keyof Subject> {
  readonly task: StepsTask;
  contact: Subject["contact"];
  conversation: Subject["conversation"];
  channel: Subject["channel"];
  state: RunState;
  readonly steps: NewStep[];
}

/** Reads the contacts and the conversations again. They are locked since `beginRuns`, so they still exist. */
async function rereadSubjects(
  tx: Transaction,
  organization: string,
  tracks: readonly Track[],
): Promise<void> {
  const subjects = tracks.map(({ task: { key } }) => key);
  const subjectOf = await lockSubjects(tx, organization, { subjects, waitsForLocks: true });
  for (const track of tracks) {
    const { contact, conversation, channel } = subjectOf(track.task.key);
    if (!contact || !conversation || !channel) {
      throw new Error(
        `The contact or the conversation of the run ${track.run.id} vanished while it was locked.`,
      );
    }
    Object.assign(track, { contact, conversation, channel });
  }
}

/** Runs the next node, or the end action. @throws StepFailure */
async function takeStep(track: Track, failure: StepFailure | undefined): Promise<void> {
  const { run, version, graph, message, latestMessage, change, contact, conversation, channel } = track;
  const { state, task } = track;
  const current = { ...run, ...state };
  // The scopes that the flow was saved with; null if an earlier version saved the flow.
  const startFlow = (flow_id: string) =>
    startOtherFlow(change, { flow_id, run: current, conversation, scopes: version.scopes });
  const next = nextOf(graph, state);
  const node_id = next === "end" || !next ? "end_action" : next.id;
  const actor = { ...change.actor, via: { node_id } };
  const traced = { ...change, actor, traceparent: task.traceparent };
  try {
    const result = await evaluateNext({
      state,
      now: change.now,
      endAction: version,
      failureCode: failure?.code ?? null,
      actions: createActions(traced, { contact, conversation, channel, run: current }, startFlow),
      graph,
      verdicts: task.verdicts,
      sources: { contact, conversation, message },
      latestMessage,
    });
    track.state = result.state;
    track.steps.push(...(result.step ? [result.step] : []));
  } catch (error) {
    throw error instanceof Failure ? new StepFailure(error, state.steps) : error;
  }
}

/** Stores the runs and their steps with the commit. Enqueues the jobs for the waits. */
async function store(
  change: { readonly tx: Transaction; readonly now: Date },
  organization: string,
  tracks: readonly Track[],
): Promise<void> {
  const { tx } = change;
  const changed = tracks.filter(({ state, run }) => state !== run);
  if (changed.length === 0) {
    return;
  }
  tx.sendWithCommit(() => storeRuns(change, organization, changed));
  tx.sendWithCommit(() => insertSteps(change, organization, changed));
  for (const { run, state } of changed) {
    reportFailure(tx, run, state);
  }
  const jobs = changed.flatMap(({ run, state, task }) => {
    const job = createContinuation(run, state);
    return job ? [{ ...job, traceparent: task.traceparent }] : [];
  });
  await tx.enqueue(jobs);
}

/**
 * The job for a wait: ends it at `due_at`, or makes the call whose response it is for. Undefined if the run
 * does not wait.
 */
function createContinuation(run: RunRow, { status, wait, due_at, episode }: RunState) {
  const payload = { ...keyOf(run), episode };
  const subject = run.conversation_id;
  if (status !== "waiting") {
    return undefined;
  }
  if (wait?.for === "response") {
    // Each flow has its own lane, so an endpoint that hangs delays no other flow. The job has no key, because
    // the other jobs of the conversation would wait for it.
    return newJob(callJobType, payload, { lane: `flow-call:${run.flow_id}`, subject });
  }
  return due_at === null ? undefined : newJob(resumeJobType, payload, { runAt: new Date(due_at), subject });
}
