/**
 * Runs the nodes of a run until it waits or ends, several in a transaction.
 *
 * So after a crash the run stands before a node or behind it, and a message is sent once. If a step fails, its transaction is
 * rolled back, with the steps before it. These are then run again, and each step up to the one that failed has a transaction of
 * its own. A step that fails again has the failure as its result, which another transaction records.
 */

import type { World } from "../../../foundation/kernel/index.ts";
import { createVerdicts, transactWithVerdicts, type Verdicts } from "../texts/patterns.ts";
import type { RunKey } from "./rows.ts";
import { type Progress, runSteps, StepFailure } from "./step.ts";

/** In one transaction, which keeps the contact and the conversation locked. */
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

/** Runs the steps up to `last`, which has failed, one by one. @returns whether there is more to do now. */
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

/** Runs steps in one transaction, which a failure of a step rolls back. */
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
