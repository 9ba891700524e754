/**
 * Runs the next nodes of a run, with everything that they change, in one transaction.
 *
 * So after a crash the run stands before a node or behind it, and a message is sent once. If a node fails, all are rolled back:
 * those before it are run again, each in a transaction of its own, and the failure is the result of the one that failed, which
 * a second transaction records.
 */

import { Failure } from "../../../../../tools/contract/index.ts";
import { together } from "../../../../database/transaction.ts";
import { newJob } from "../../../../jobs/job.ts";
import type { OrganizationChange, Transaction, World } from "../../../foundation/kernel/index.ts";
import { lockSubject, type Subject } from "../../../inbox/conversations/index.ts";
import { createSwitchOffJob, heldScopes, lostScopes } from "../authority/index.ts";
import { type Graph, toGraph } from "../graph/index.ts";
import { type Attempt, createVerdicts, transactWithVerdicts, type Verdicts } from "../patterns.ts";
import { createActions } from "./actions.ts";
import { evaluateEnd, evaluateNode, testsOf } from "./evaluate.ts";
import { callJobType, resumeJobType } from "./job-types.ts";
import { ended, nextOf, type RunState } from "./machine.ts";
import { insertSteps, keyOf, lockRun, type NewStep, type RunKey, type RunRow, storeRun } from "./rows.ts";
import { startOtherFlow } from "./start-other.ts";
import { type InboundText, latestInbound, readInbound, readRunVersion } from "./subject.ts";

/** In one transaction, which keeps the contact and the conversation locked. */
const maxStepsAtOnce = 20;

/** Runs the nodes of a run until it waits or ends. @returns whether there is more to do, because `signal` was aborted. */
export async function advance(world: World, key: RunKey, signal: AbortSignal): Promise<boolean> {
  while (await takeSteps(world, key)) {
    if (signal.aborted) {
      return true;
    }
  }
  return false;
}

/** Runs the next nodes in one transaction. @returns whether there is more to do now. */
async function takeSteps(world: World, key: RunKey): Promise<boolean> {
  const reached = { steps: 0 };
  const verdicts = createVerdicts(world);
  try {
    return await execute({ world, key, limit: maxStepsAtOnce, reached, verdicts });
  } catch (error) {
    if (!(error instanceof Failure)) {
      throw error;
    }
  }
  const last = reached.steps;
  let isMore = true;
  while (isMore && reached.steps <= last) {
    isMore = await takeStep({ world, key, limit: 1, reached, verdicts });
  }
  return isMore;
}

/** What the transactions of one call have reached, which a rollback does not undo. */
interface Reached {
  /** The steps of the run before the node that is being run. */
  steps: number;
}

async function takeStep(step: StepOptions): Promise<boolean> {
  try {
    return await execute(step);
  } catch (error) {
    if (!(error instanceof Failure)) {
      throw error;
    }
    return execute({ ...step, failure: { code: error.code, step: step.reached.steps } });
  }
}

interface StepOptions {
  readonly world: World;
  readonly key: RunKey;
  readonly limit: number;
  readonly reached: Reached;
  readonly verdicts: Verdicts;
  /** What the node resulted in, which is not run again. */
  readonly failure?: { readonly code: string; readonly step: number };
}

function execute(options: StepOptions): Promise<boolean> {
  return transactWithVerdicts(options.world, options.verdicts, (tx) => executeSteps(tx, options));
}

/** The result says whether there is more to do. */
async function executeSteps(tx: Transaction, options: StepOptions): Promise<Attempt<boolean>> {
  const { world, key, limit, reached, failure, verdicts } = options;
  const begun = await begin(tx, world, key);
  if (!begun) {
    return { result: false };
  }
  const { run, version, message, change } = begun;
  reached.steps = run.steps;
  if (failure && failure.step !== run.steps) {
    // Another process has run the node in between.
    return { result: true };
  }
  const graph = toGraph(version.nodes);
  const first = nextOf(graph, run);
  // Only the first node can have been ended by a reply.
  const tests = first && first !== "end" ? testsOf(graph, first, run, message) : [];
  if (!verdicts.isKnown(tests)) {
    return { unknown: tests };
  }
  const steps: NewStep[] = [];
  let state: RunState = run;
  for (let count = 0; count < limit && state.status === "running"; count += 1) {
    // A node may have changed them.
    const subject = count === 0 ? begun : await requireSubject(tx, key);
    const result = await evaluate({ ...begun, ...subject }, state, { graph, options });
    state = result.state;
    steps.push(...(result.step ? [result.step] : []));
    reached.steps = state.steps;
  }
  await store(change, run, { state, steps });
  return { result: state.status === "running" };
}

/** Runs the next node, or the end action. */
function evaluate(
  { run, version, message, change, contact, conversation }: Begun,
  state: RunState,
  { graph, options: { verdicts, failure } }: { readonly graph: Graph; readonly options: StepOptions },
) {
  const current = { ...run, ...state };
  const evaluation = {
    state,
    now: change.now,
    endAction: version,
    failureCode: failure?.code ?? null,
    actions: createActions(change, { contact, conversation, run: current }, (flow_id) =>
      startOtherFlow(change, { flow_id, run: current, conversation, scopes: version.scopes }),
    ),
  };
  const node = nextOf(graph, state);
  return node === "end" || !node
    ? evaluateEnd(evaluation)
    : evaluateNode({
        ...evaluation,
        graph,
        node,
        verdicts,
        sources: { contact, conversation, message },
        latestMessage: () => latestInbound(change.tx, conversation),
      });
}

interface Begun extends Subject {
  readonly run: RunRow;
  readonly version: NonNullable<Awaited<ReturnType<typeof readRunVersion>>>;
  readonly message: InboundText | undefined;
  readonly change: OrganizationChange;
}

/** Locks a run and what it is about; undefined if there is nothing to run, because it waits or has ended. */
async function begin(tx: Transaction, world: World, key: RunKey): Promise<Begun | undefined> {
  const [{ contact, conversation }, run] = await together(lockSubject(tx, key), lockRun(tx, key));
  if (run?.status !== "running") {
    return undefined;
  }
  const now = world.now();
  const [version, message] = await together(
    readRunVersion(tx, run),
    readInbound(tx, run.organization_id, run.message_id),
  );
  const isUnauthorized = version !== undefined && lostScopes(version).length > 0;
  if (!version || !contact || !conversation || contact.blocked_at !== null || isUnauthorized) {
    const stopped = isUnauthorized ? "authority_lost" : version ? "blocked" : "flow_deleted";
    const reason = !contact || !conversation ? "contact_erased" : stopped;
    await storeRun({ tx, now }, run, { ...ended(run), status: "cancelled", reason });
    await tx.enqueue(isUnauthorized ? [createSwitchOffJob(run)] : []);
    return undefined;
  }
  const scopes = new Set(heldScopes(version));
  const actor = { type: "flow", id: run.flow_id, name: version.name, scopes } as const;
  const change = { tx, world, now, actor, organization: run.organization_id };
  return { run, version, message, change, contact, conversation };
}

/** They are locked, so they are still there. */
async function requireSubject(tx: Transaction, key: RunKey): Promise<Subject> {
  const { contact, conversation } = await lockSubject(tx, key);
  if (!contact || !conversation) {
    throw new Error(`The contact or the conversation of the run ${key.run_id} vanished while it was locked.`);
  }
  return { contact, conversation };
}

async function store(
  change: OrganizationChange,
  run: RunRow,
  { state, steps }: { readonly state: RunState; readonly steps: readonly NewStep[] },
): Promise<void> {
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
