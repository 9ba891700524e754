/**
 * Runs the nodes of a run until it waits or ends, several nodes per transaction.
 *
 * After a crash the run is either before a node or after it, so a message is sent once. If a step fails, its
 * transaction is rolled back, including the steps before it. Then the steps up to the failed one are run
 * again, each in a transaction of its own. If the step fails again, another transaction records the failure
 * as the result of the step.
 */

import type { World } from "../../../foundation/kernel/index.ts";
import { createVerdicts, transactWithVerdicts, type Verdicts } from "../texts/patterns.ts";
import type { RunKey } from "./rows.ts";
import { type Progress, runSteps, StepFailure } from "./step.ts";

/** Steps in one transaction, which keeps the contact and the conversation locked. */
const maxStepsAtOnce = 20;

/** @returns whether there is more to do, because `signal` was aborted. */
export async function advance(world: World, key: RunKey, signal: AbortSignal): Promise<boolean> {
  while (await takeSteps({ world, key, verdicts: createVerdicts(world) })) {
    if (signal.aborted) {
      return true;
    }
  }
  return false;
}

interface Task {
  readonly world: World;
  readonly key: RunKey;
  readonly verdicts: Verdicts;
}

/** Runs the next steps. @returns whether there is more to do now. */
async function takeSteps(task: Task): Promise<boolean> {
  const taken = await transactSteps(task, { limit: maxStepsAtOnce });
  return taken instanceof StepFailure ? takeSingleSteps(task, taken.step) : taken.isRunning;
}

/**
 * Runs the steps up to `last`, the step that has failed, one by one.
 * @returns whether there is more to do now.
 */
async function takeSingleSteps(task: Task, last: number): Promise<boolean> {
  let progress: Progress;
  do {
    progress = await takeSingleStep(task);
  } while (progress.isRunning && progress.steps <= last);
  return progress.isRunning;
}

async function takeSingleStep(task: Task): Promise<Progress> {
  const taken = await transactSteps(task, { limit: 1 });
  if (!(taken instanceof StepFailure)) {
    return taken;
  }
  const recorded = await transactSteps(task, { limit: 1, failure: taken });
  if (recorded instanceof StepFailure) {
    throw recorded;
  }
  return recorded;
}

/** Runs steps in one transaction. If a step fails, the transaction is rolled back. */
async function transactSteps(
  { world, key, verdicts }: Task,
  plan: { readonly limit: number; readonly failure?: StepFailure },
): Promise<Progress | StepFailure> {
  try {
    return await transactWithVerdicts(world, verdicts, (tx) =>
      runSteps(tx, { world, key, verdicts, failure: undefined, ...plan }),
    );
  } catch (error) {
    if (error instanceof StepFailure) {
      return error;
    }
    throw error;
  }
}
