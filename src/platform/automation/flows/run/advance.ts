/**
 * Runs the nodes of a run until it waits or ends, several nodes per transaction. Runs of one organization
 * that advance at the same time share their transactions.
 *
 * After a crash the run is either before a node or after it, so a message is sent once. If a step fails, its
 * transaction is rolled back, including the steps before it and the steps of other runs. Then each run
 * continues alone: its steps up to the failed one are run again, each in a transaction of its own. If the
 * step fails again, another transaction records the failure as the result of the step.
 */

import { shareWithinOrganization } from "../../../../database/sharing/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import { createVerdicts, learnVerdicts } from "../texts/patterns.ts";
import type { RunKey } from "./rows.ts";
import { type Progress, runSteps, StepFailure, type StepsOptions, type StepsTask } from "./step.ts";

/** Steps of a run in one transaction, which keeps the contact and the conversation locked. */
const maxStepsAtOnce = 20;

/** @returns whether there is more to do, because `signal` was aborted. */
export async function advance(world: World, key: RunKey, signal: AbortSignal): Promise<boolean> {
  while (await takeSteps(world, createTask(world, key))) {
    if (signal.aborted) {
      return true;
    }
  }
  return false;
}

function createTask(world: World, key: RunKey): StepsTask {
  const { organization_id } = key;
  return { organization_id, key, verdicts: createVerdicts(world), traceparent: world.traceparent() };
}

/** Runs the next steps. @returns whether there is more to do now. */
async function takeSteps(world: World, task: StepsTask): Promise<boolean> {
  const taken =
    (await orFailure(() => shareSteps(world, task))) ??
    (await transactSteps(world, task, { limit: maxStepsAtOnce }));
  return taken instanceof StepFailure ? takeSingleSteps(world, task, taken.step) : taken.isRunning;
}

/** Runs steps together with other runs. Undefined: the next step must run without other runs. */
function shareSteps(world: World, task: StepsTask): Promise<Progress | undefined> {
  return learnVerdicts<Progress | undefined>(
    task.verdicts,
    async () => (await takeSharedSteps(world, task)) ?? { result: undefined },
  );
}

const takeSharedSteps = shareWithinOrganization(
  (tx: Transaction, world: World, tasks: readonly StepsTask[]) =>
    runSteps(tx, world, tasks, { limit: maxStepsAtOnce, waitsForLocks: false }),
);

/**
 * Runs the steps up to `last`, the step that has failed, one by one.
 * @returns whether there is more to do now.
 */
async function takeSingleSteps(world: World, task: StepsTask, last: number): Promise<boolean> {
  let progress: Progress;
  do {
    progress = await takeSingleStep(world, task);
  } while (progress.isRunning && progress.steps <= last);
  return progress.isRunning;
}

async function takeSingleStep(world: World, task: StepsTask): Promise<Progress> {
  const taken = await transactSteps(world, task, { limit: 1 });
  if (!(taken instanceof StepFailure)) {
    return taken;
  }
  const recorded = await transactSteps(world, task, { limit: 1, failure: taken });
  if (recorded instanceof StepFailure) {
    throw recorded;
  }
  return recorded;
}

/** Runs steps of one run in a transaction. If a step fails, the transaction is rolled back. */
function transactSteps(
  world: World,
  task: StepsTask,
  plan: Pick<StepsOptions, "limit" | "failure">,
): Promise<Progress | StepFailure> {
  return orFailure(() =>
    learnVerdicts(task.verdicts, () =>
      world.database.transaction(async (tx) => {
        const [attempt] = await runSteps(tx, world, [task], { ...plan, waitsForLocks: true });
        if (!attempt) {
          throw new Error(`The run ${task.key.run_id} has no result without other runs.`);
        }
        return attempt;
      }),
    ),
  );
}

async function orFailure<Result>(work: () => Promise<Result>): Promise<Result | StepFailure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StepFailure) {
      return error;
    }
    throw error;
  }
}
