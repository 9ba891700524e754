/** Finds a stored plan that a caller may read, and prepares the run of its operation. */
import type { Caller, World } from "../../foundation/kernel/index.ts";
import type { PreparedPlan } from "./run.ts";
import { getPlan, type PlanRow, readContentOf } from "./store.ts";

interface Asker {
  readonly world: World;
  readonly caller: Caller;
}

/** @throws Failure `plan_not_found`, `insufficient_scope`. */
export async function findReadable(
  { world, caller, db }: Asker & { readonly db: Parameters<typeof getPlan>[0] },
  id: string,
): Promise<PlanRow> {
  const plan = await getPlan(db, caller.organization_id, id);
  world.plannedCalls.requireReadable(caller, plan.operation);
  return plan;
}

/** Finds the operation of a stored plan, and does its slow work. */
export async function prepareStored({ world, caller }: Asker, id: string): Promise<PreparedPlan> {
  const stored = await findReadable({ world, caller, db: world.database.queries }, id);
  const { version, operation, ...plan } = stored;
  const { input } = readContentOf(world, plan);
  const call = world.plannedCalls.find({ operation, input }, caller, world.hiddenBy);
  return { version, call, steps: await call.prepare({ world, caller }) };
}
