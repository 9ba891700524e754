/** The preparation of a plan: what a job has to do before the plan is ready. */
import { z } from "zod";
import type { StoredPreparation } from "../../../database/schema/index.ts";
import { newJob } from "../../../jobs/job.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";
import { addValues } from "./unusual.ts";

/** The job does one step: the download of a file, or a batch of targets. The next step is another job. */
export const preparePlan = {
  name: "plan.prepare",
  payload: z.object({
    organization_id: z.string(),
    plan_id: z.string(),
    version: z.int(),
    /** A job of an earlier turn does nothing. */
    turn: z.int(),
  }),
} as const;

interface PreparingPlan {
  readonly organization_id: string;
  readonly id: string;
  readonly version: number;
  readonly preparation: StoredPreparation | null;
}

/** Where the preparation of an effect begins; null if nothing is left to prepare. */
export function beginPreparation(
  effect: { readonly addresses?: readonly string[]; readonly remaining?: unknown },
  turn = 1,
): StoredPreparation | null {
  const hasFiles = (effect.addresses ?? []).length > 0;
  const step = hasFiles ? "files" : "targets";
  return hasFiles || effect.remaining
    ? { step, turn, after: "", position: 0, amount: 0, values: addValues([]) }
    : null;
}

/** Adds the job for the next turn, if the plan is being prepared. */
export async function enqueueTurn(
  tx: Transaction,
  { organization_id, id: plan_id, version, preparation }: PreparingPlan,
): Promise<void> {
  if (preparation) {
    const { turn } = preparation;
    await tx.enqueue([
      newJob(preparePlan, { organization_id, plan_id, version, turn }, { priority: "bulk" }),
    ]);
  }
}
