/** Runs the next steps of a run in a transaction: reads and locks what they need, evaluates them, stores what they result in. */

import { Failure } from "../../../../../tools/contract/index.ts";
import { together } from "../../../../database/transaction.ts";
import { newJob } from "../../../../jobs/job.ts";
import type { OrganizationChange, Transaction, World } from "../../../foundation/kernel/index.ts";
import { lockSubject, type Subject } from "../../../inbox/conversations/index.ts";
import { createSwitchOffJob, heldScopes, lostScopes } from "../authority/index.ts";
import { type Graph, toGraph } from "../graph/index.ts";
import type { Attempt, Verdicts } from "../patterns.ts";
import { createActions } from "./actions.ts";
import { evaluateEnd, evaluateNode, testsOf } from "./evaluate.ts";
import { callJobType, resumeJobType } from "./job-types.ts";
import { ended, nextOf, type RunState } from "./machine.ts";
import { insertSteps, keyOf, lockRun, type NewStep, type RunKey, type RunRow, storeRun } from "./rows.ts";
import { startOtherFlow } from "./start-other.ts";
import { type InboundText, latestInbound, readInbound, readRunVersion } from "./subject.ts";

export interface StepsOptions {
  readonly world: World;
  readonly key: RunKey;
  readonly limit: number;
  readonly verdicts: Verdicts;
  /** What the next step has failed with: it is not run again, and the failure is its result. */
  readonly failure: StepFailure | undefined;
}

/** How far a run has come: `steps` counts those that it has taken. It has more to do now unless it waits or has ended. */
export type Progress = { readonly isRunning: true; readonly steps: number } | { readonly isRunning: false };

/** A node or the end action has failed, so its transaction must be rolled back. */
export class StepFailure extends Error {
  readonly code: string;
  /** The steps that the run had taken before. */
  readonly step: number;

  constructor(cause: Failure, step: number) {
    super(cause.message, { cause });
    this.code = cause.code;
    this.step = step;
  }
}

/** @throws StepFailure */
export async function runSteps(tx: Transaction, options: StepsOptions): Promise<Attempt<Progress>> {
  const { world, key, limit, verdicts, failure } = options;
  const begun = await begin(tx, world, key);
  if (!begun) {
    return { result: { isRunning: false } };
  }
  const { run, message, version } = begun;
  if (failure && failure.step !== run.steps) {
    // Another process has run the step in between.
    return { result: progressOf(run) };
  }
  const graph = toGraph(version.nodes);
  const tests = testsOfNext(graph, run, message);
  if (!verdicts.isKnown(tests)) {
    return { unknown: tests };
  }
  const steps: NewStep[] = [];
  let state: RunState = run;
  for (let count = 0; count < limit && state.status === "running"; count += 1) {
    // The step before may have changed the contact or the conversation.
    const subject = count === 0 ? begun : await requireSubject(tx, key);
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

/** What the steps of a transaction need. */
interface Begun extends Subject {
  readonly run: RunRow;
  readonly version: NonNullable<Awaited<ReturnType<typeof readRunVersion>>>;
  /** The message that started the run, or the latest reply that it got. */
  readonly message: InboundText | undefined;
  readonly change: OrganizationChange;
}

/**
 * Locks a run with its contact and its conversation; undefined if there is nothing to run, because it waits or has ended. A run
 * that may not go on is cancelled.
 */
async function begin(tx: Transaction, world: World, key: RunKey): Promise<Begun | undefined> {
  const [{ contact, conversation }, run] = await together(lockSubject(tx, key), lockRun(tx, key));
  if (run?.status !== "running") {
    return undefined;
  }
  const { organization_id: organization, message_id, flow_id } = run;
  const now = world.now();
  const [version, message] = await together(
    readRunVersion(tx, run),
    readInbound(tx, organization, message_id),
  );
  const cancel = async (reason: string) => {
    await storeRun({ tx, now }, run, { ...ended(run), status: "cancelled", reason });
    return undefined;
  };
  const isUnauthorized = version !== undefined && lostScopes(version).length > 0;
  if (isUnauthorized) {
    await tx.enqueue([createSwitchOffJob(run)]);
  }
  if (!contact || !conversation) {
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
  const scopes = new Set(heldScopes(version));
  const actor = { type: "flow", id: flow_id, name: version.name, scopes } as const;
  const change = { tx, world, now, actor, organization };
  return { run, version, message, change, contact, conversation };
}

/** The regular expressions that the next node needs. Only the first node of a transaction can have been ended by a reply. */
function testsOfNext(graph: Graph, state: RunState, message: InboundText | undefined) {
  const next = nextOf(graph, state);
  return next && next !== "end" ? testsOf(graph, next, state, message) : [];
}

/** They are locked, so they are still there. */
async function requireSubject(tx: Transaction, key: RunKey): Promise<Subject> {
  const { contact, conversation } = await lockSubject(tx, key);
  if (!contact || !conversation) {
    throw new Error(`The contact or the conversation of the run ${key.run_id} vanished while it was locked.`);
  }
  return { contact, conversation };
}

/** Runs the next node, or the end action. @throws StepFailure */
async function runStep(
  { run, version, message, change, contact, conversation }: Begun,
  state: RunState,
  { graph, verdicts, failure }: Pick<StepsOptions, "verdicts" | "failure"> & { readonly graph: Graph },
) {
  const current = { ...run, ...state };
  const startFlow = (flow_id: string) =>
    startOtherFlow(change, { flow_id, run: current, conversation, scopes: version.scopes });
  const evaluation = {
    state,
    now: change.now,
    endAction: version,
    failureCode: failure?.code ?? null,
    actions: createActions(change, { contact, conversation, run: current }, startFlow),
  };
  const node = nextOf(graph, state);
  try {
    return node === "end" || !node
      ? await evaluateEnd(evaluation)
      : await evaluateNode({
          ...evaluation,
          graph,
          node,
          verdicts,
          sources: { contact, conversation, message },
          latestMessage: () => latestInbound(change.tx, conversation),
        });
  } catch (error) {
    throw error instanceof Failure ? new StepFailure(error, state.steps) : error;
  }
}

/** Stores the run and its steps with the commit, and adds the job that ends its wait. */
async function store({ change, run }: Begun, state: RunState, steps: readonly NewStep[]): Promise<void> {
  const { tx } = change;
  tx.sendWithCommit(() => storeRun(change, run, state));
  if (steps.length > 0) {
    tx.sendWithCommit(() => insertSteps(change, run, steps));
  }
  const job = createContinuation(run, state);
  if (job) {
    await tx.enqueue([job]);
  }
}

/** The job that ends the wait at its time, or makes the call that it waits for. */
function createContinuation(run: RunRow, { status, wait, due_at, episode }: RunState) {
  const payload = { ...keyOf(run), episode };
  const subject = run.conversation_id;
  if (status !== "waiting") {
    return undefined;
  }
  if (wait?.for === "response") {
    // Each flow has its own lane, so an endpoint that hangs delays no other flow. No key: the conversation does not wait.
    return newJob(callJobType, payload, { lane: `flow-call:${run.flow_id}`, subject });
  }
  return due_at === null ? undefined : newJob(resumeJobType, payload, { runAt: new Date(due_at), subject });
}
