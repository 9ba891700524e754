/** Stores the targets of a plan in batches. The hash of the plan covers them in their order. */
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import { hashOfJson, readContentOf } from "../store.ts";
import { insertTargets } from "../targets.ts";
import { addValues } from "../unusual.ts";
import { advancePreparation, inPlanTurn, type PreparingPlan, type Turn } from "./turn.ts";

/** Targets of a transaction: about 50 ms, so that other work does not wait for the processor longer. */
const batchSize = 500;

export async function planBatch(turn: Turn): Promise<void> {
  await inPlanTurn(turn.world, turn.payload, (context, plan) => storeBatch(context, plan, turn));
}

async function storeBatch(context: OrganizationChange, plan: PreparingPlan, { steps }: Turn): Promise<void> {
  const { after, position, amount, values } = plan.preparation;
  const { files, frozen } = readContentOf(context.world, plan);
  const batch = await steps.planTargets(context, { files, frozen, after, limit: batchSize });
  const { targets, next } = batch;
  const rows = targets.map((target, index) => ({ ...target, position: position + index, unusual: 0 }));
  await insertTargets(context.tx, plan, rows);
  const included = targets.filter(({ reason }) => reason === null).length;
  const stored = position + targets.length;
  await advancePreparation(context, plan, {
    hash: hashOfJson([plan.hash, targets]),
    prepared: stored,
    included: (plan.included ?? 0) + included,
    excluded: (plan.excluded ?? 0) + targets.length - included,
    preparation: {
      amount: amount === null || batch.amount === null ? null : amount + batch.amount,
      values: addValues(targets, values),
      ...(next === null ? { step: "unusual", position: 0 } : { after: next, position: stored }),
    },
  });
}
