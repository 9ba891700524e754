/**
 * The jobs of runs.
 *
 * `flow.advance` runs the nodes of a run until it waits or ends; the jobs of one conversation run in order.
 * `flow.resume` ends a wait when its time has come. This job has no key, because otherwise the other jobs of
 * the conversation would wait for it.
 */
import { defineJob } from "../../../foundation/kernel/index.ts";
import { advance } from "./advance.ts";
import { advanceJobType, resumeJobType } from "./job-types.ts";
import { clearWork, endWait } from "./machine.ts";
import { keyOf, lockRun, reportFailure, storeRun } from "./rows.ts";
import { createAdvanceJob } from "./start.ts";

export const advanceJob = defineJob({
  ...advanceJobType,
  slots: 1 / 4,

  async run(key, world, { signal }) {
    return (await advance(world, key, signal)) ? { runAgainAt: world.now() } : undefined;
  },

  async exhausted(key, world) {
    await world.database.transaction(async (tx) => {
      const run = await lockRun(tx, key);
      if (run?.status === "running") {
        const state = { ...clearWork(run), status: "failed", reason: "internal_error" } as const;
        await storeRun({ tx, now: world.now() }, run, state);
        reportFailure(tx, run, state);
      }
    });
  },
});

export const resumeJob = defineJob({
  ...resumeJobType,

  async run({ episode, ...key }, world) {
    await world.database.transaction(async (tx) => {
      const run = await lockRun(tx, key);
      const resumed = run && endWait(run, { type: "timeout", episode });
      if (run && resumed) {
        await storeRun({ tx, now: world.now() }, run, resumed);
        await tx.enqueue([createAdvanceJob(keyOf(run))]);
      }
    });
    return undefined;
  },
});
