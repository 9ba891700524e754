/**
 * Runs the next steps of a run in a transaction: locks and reads its rows, evaluates the steps, stores the
 * results.
 */

import { Failure } from "../../../../../tools/contract/index.ts";
import { together } from "../../../../database/transaction.ts";
import { newJob } from "../../../../jobs/job.ts";
import type { OrganizationChange, Transaction, World } from "../../../foundation/kernel/index.ts";
import { lockSubject, type Subject } from "../../../inbox/conversations/index.ts";
import { createSwitchOffJob, heldScopes, lostScopes } from "../authority/index.ts";
import { type Graph, toGraph } from "../graph/index.ts";
import type { VerdictAttempt, Verdicts } from "../texts/patterns.ts";
import { createActions } from "./actions.ts";
import { evaluateNext, testsOfNext } from "./evaluate.ts";
import { callJobType, resumeJobType } from "./job-types.ts";
import { clearWork, type RunState } from "./machine.ts";
import {
  insertSteps,
  keyOf,
  lockRun,
  type NewStep,
  type RunKey,
  type RunRow,
  reportFailure,
  storeRun,
} from "./rows.ts";
import { startOtherFlow } from "./start-other.ts";
import { type InboundText, latestInbound, readInboundText, readRunVersion } from "./subject.ts";

export interface StepsOptions {
  readonly world: World;
  readonly key: RunKey;
  /** How many steps to run at most. With a `failure`, which belongs to the next step, the limit is 1. */
  readonly limit: number;
  readonly verdicts: Verdicts;
  /**
   * The failure of the next step in a transaction that was rolled back. It is recorded as the step's result,
   * and the step is not run again.
   */
  readonly failure: StepFailure | undefined;
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

/**
 * Runs up to `limit` steps.
 *
 * A regular expression must not run in the transaction. If the next node needs one whose verdict is unknown,
 * the tests are returned; the caller evaluates them and calls again.
 *
 * @throws StepFailure
 */
export async function runSteps(tx: Transaction, options: StepsOptions): Promise<VerdictAttempt<Progress>> {
  const { world, key, limit, verdicts, failure } = options;
  const begun = await begin(tx, world, key);
  if (!begun) {
    return { result: { isRunning: false } };
  }
  const { run, message, version } = begun;
  if (failure && failure.step !== run.steps) {
    // Another process has run the failed step since.
    return { result: progressOf(run) };
  }
  const graph = toGraph(version.nodes);
  // Only the first node of a transaction can go on from a wait, so only this node can have a reply to test.
  const tests = testsOfNext(graph, run, message);
  if (!verdicts.isKnown(tests)) {
    return { unknown: tests };
  }
  const steps: NewStep[] = [];
  let state: RunState = run;
  for (let count = 0; count < limit && state.status === "running"; count += 1) {
    // The step before may have changed the contact or the conversation.
    const subject = count === 0 ? begun : await rereadSubject(tx, key);
    const result = await runStep({ ...begun, ...subject }, state, { graph, verdicts, failure });
    state = result.state;
    steps.push(...(result.step ? [result.step] : []));
  }
  await store(begun, state, steps);
  return { result: progressOf(state) };
}

function progressOf({ status, steps }: RunState): Progress {
  return status === "running" ? { isRunning: true, steps } : { isRunning: false };
}

/** What the steps that run in one transaction share. */
interface StepsContext extends Subject {
  readonly run: RunRow;
  readonly version: NonNullable<Awaited<ReturnType<typeof readRunVersion>>>;
  /** The message that started the run, or the latest reply in it. */
  readonly message: InboundText | undefined;
  readonly change: OrganizationChange;
}

/**
 * Locks a run with its contact and its conversation. A run that may not continue is cancelled.
 * @returns undefined if no step may run: the run waits, has ended, or was cancelled here.
 */
async function begin(tx: Transaction, world: World, key: RunKey): Promise<StepsContext | undefined> {
  const [{ contact, conversation, channel }, run] = await together(lockSubject(tx, key), lockRun(tx, key));
  if (run?.status !== "running") {
    return undefined;
  }
  const { organization_id: organization, message_id, flow_id } = run;
  const now = world.now();
  const [version, message] = await together(
    readRunVersion(tx, run),
    readInboundText(tx, organization, message_id),
  );
  const cancel = async (reason: string) => {
    await storeRun({ tx, now }, run, { ...clearWork(run), status: "cancelled", reason });
    return undefined;
  };
  const isUnauthorized = version !== undefined && lostScopes(version).length > 0;
  // Enqueued before the other checks, so that the flow is switched off even if this run is cancelled for
  // another reason.
  if (isUnauthorized) {
    await tx.enqueue([createSwitchOffJob(run)]);
  }
  if (!contact || !conversation || !channel) {
    return cancel("contact_erased");
  }
  if (!version) {
    return cancel("flow_deleted");
  }
  if (isUnauthorized) {
    return cancel("authority_lost");
  }
  if (contact.blocked_at !== null) {
    return cancel("blocked");
  }
  // No scope is lost, so these are all scopes that the flow was saved with. If an earlier version saved the
  // flow, there are none.
  const scopes = new Set(heldScopes(version));
  const actor = { type: "flow", id: flow_id, name: version.name, scopes } as const;
  const change = { tx, world, now, actor, organization };
  return { run, version, message, change, contact, conversation, channel };
}

/** Reads the contact and the conversation again. They are locked since `begin`, so they still exist. */
async function rereadSubject(tx: Transaction, key: RunKey): Promise<Subject> {
  const { contact, conversation, channel } = await lockSubject(tx, key);
  if (!contact || !conversation || !channel) {
    throw new Error(`The contact or the conversation of the run ${key.run_id} vanished while it was locked.`);
  }
  return { contact, conversation, channel };
}

/** Runs the next node, or the end action. @throws StepFailure */
async function runStep(
  { run, version, message, change, contact, conversation, channel }: StepsContext,
  state: RunState,
  { graph, verdicts, failure }: Pick<StepsOptions, "verdicts" | "failure"> & { readonly graph: Graph },
) {
  const current = { ...run, ...state };
  // The scopes that the flow was saved with; null if an earlier version saved the flow.
  const startFlow = (flow_id: string) =>
    startOtherFlow(change, { flow_id, run: current, conversation, scopes: version.scopes });
  try {
    return await evaluateNext({
      state,
      now: change.now,
      endAction: version,
      failureCode: failure?.code ?? null,
      actions: createActions(change, { contact, conversation, channel, run: current }, startFlow),
      graph,
      verdicts,
      sources: { contact, conversation, message },
      latestMessage: () => latestInbound(change.tx, conversation),
    });
  } catch (error) {
    throw error instanceof Failure ? new StepFailure(error, state.steps) : error;
  }
}

/** Stores the run and its steps with the commit. If the run waits, enqueues the job for the wait. */
async function store(
  { change, run }: StepsContext,
  state: RunState,
  steps: readonly NewStep[],
): Promise<void> {
  const { tx } = change;
  tx.sendWithCommit(() => storeRun(change, run, state));
  reportFailure(tx, run, state);
  if (steps.length > 0) {
    tx.sendWithCommit(() => insertSteps(change, run, steps));
  }
  const job = createContinuation(run, state);
  if (job) {
    await tx.enqueue([job]);
  }
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
