/** Marks the targets with unusual values, when all targets are stored. */
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import { markUnusual, readTargets } from "../targets.ts";
import { countUnusual } from "../unusual.ts";
import { advancePreparation, finish, inPlanTurn, type PreparingPlan, type Turn } from "./turn.ts";

/** Targets that one transaction reads. Few of them are unusual, so it changes few rows. */
const batchSize = 2_000;

export async function markBatch({ world, payload }: Turn): Promise<void> {
  await inPlanTurn(world, payload, async (context, plan) => {
    const { position, values, amount } = plan.preparation;
    const total = plan.prepared ?? 0;
    const targets = await readTargets(context.tx, plan, { position, limit: batchSize });
    const rows = targets.map((target) => ({
      position: target.position,
      unusual: countUnusual(target, values, total),
    }));
    await markUnusual(
      context.tx,
      plan,
      rows.filter(({ unusual }) => unusual > 0),
    );
    const last = targets.length === batchSize ? targets.at(-1) : undefined;
    await (last
      ? advancePreparation(context, plan, { preparation: { position: last.position + 1 } })
      : finishTargets(context, plan, amount));
  });
}

async function finishTargets(
  context: OrganizationChange,
  plan: PreparingPlan,
  amount: number | null,
): Promise<void> {
  const isPriced = amount !== null && plan.currency !== null && plan.included !== 0;
  const price = isPriced ? { price: amount } : { price: null, currency: null };
  await finish(context, plan, { ...price, total: plan.prepared });
}
