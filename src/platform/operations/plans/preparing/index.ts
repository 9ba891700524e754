/**
 * The job that prepares plans with many targets or with files elsewhere.
 *
 * First each file is downloaded, then the targets are stored in batches, and then those with unusual values
 * are marked. Each step is a transaction of its own, which locks the plan, checks that the plan still waits
 * for this step, and enqueues the job of the next step. So a crash neither loses nor repeats a target, any
 * process continues, and a plan that was withdrawn, amended or has expired is not prepared further. If the
 * call can't be planned any more, the plan fails with the reason.
 */
import { Failure } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import type { StoredPreparation } from "../../../../database/schema/index.ts";
import { defineJob, type World } from "../../../foundation/kernel/index.ts";
import { preparePlan } from "../preparation.ts";
import { endPlan } from "../store.ts";
import { planBatch } from "./batch.ts";
import { keepFile } from "./files.ts";
import { markBatch } from "./mark.ts";
import { findPlanTurn, inPlanTurn, type Turn, type TurnPayload } from "./turn.ts";

const steps: Readonly<Record<StoredPreparation["step"], (turn: Turn) => Promise<void>>> = {
  files: keepFile,
  targets: planBatch,
  unusual: markBatch,
};

export const preparePlanJob = defineJob({
  ...preparePlan,
  // After a crash another process continues when the lease ends.
  leaseMs: 15_000,

  async run(payload, world) {
    const turn = await findPlanTurn(world, payload);
    if (!turn) {
      return undefined;
    }
    try {
      await steps[turn.plan.preparation.step](turn);
    } catch (error) {
      if (world.stopping.aborted) {
        // A download was aborted by the shutdown.
        return { runAgainAt: world.now() };
      }
      if (!(error instanceof Failure) || error.status >= 500) {
        throw error;
      }
      await abandon(world, payload, error);
    }
    return undefined;
  },

  async exhausted(payload, world) {
    await abandon(world, payload, fail("plan_not_prepared", { reason: "an internal error occurred" }));
  },
});

/** The plan fails. Safe to repeat. */
async function abandon(world: World, payload: TurnPayload, failure: Failure): Promise<void> {
  await inPlanTurn(world, payload, async (context, plan) => {
    await endPlan(context, plan, { step: "abandon", result: failure.body(), status: failure.status });
  });
}
