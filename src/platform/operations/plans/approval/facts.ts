/** What a plan asks for under the rules of who runs it. */
import { catalogue } from "../../../../../tools/index.ts";
import { type BoundRules, contactCreatingOperations } from "../../../../../tools/rules.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import {
  type ActFacts,
  hasOutsideHours,
  isConfiguring,
  type Needs,
  needsOf,
} from "../../../account/rules/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import type { CallEffect, PlanRow } from "../store.ts";
import { readContentOf } from "../store.ts";

/** Facts of the targets of a call that has none. */
export const noTargets = { recipients: 0, amount: 0, newContacts: 0 };

/** The new contacts of a call that creates some, whatever its targets are. */
export function creating(operation: string): Partial<Pick<ActFacts, "newContacts">> {
  return contactCreatingOperations.includes(operation) ? { newContacts: null } : {};
}

/** The facts of a call that do not depend on whom it reaches. */
export function factsOfCall(operation: string, input: unknown) {
  const declared = Object.entries(catalogue).find(([name]) => name === operation)?.[1];
  return { deletes: declared?.method === "DELETE", configures: isConfiguring(operation, input) };
}

interface Reached extends Pick<CallEffect, "price"> {
  readonly targets: readonly Pick<CallEffect["targets"][number], "reason" | "contact_id">[];
}

export function factsOfEffect({
  targets,
  price,
}: Reached): Pick<ActFacts, "recipients" | "amount" | "newContacts"> {
  const reached = targets.filter(({ reason }) => reason === null);
  const newContacts = reached.filter(({ contact_id }) => contact_id === null).length;
  return { recipients: reached.length, amount: price?.amount ?? 0, newContacts };
}

interface NeedsContext {
  readonly tx: Transaction;
  readonly world: World;
  readonly organization: string;
  readonly now: Date;
}

/** What a stored plan needs before it runs. Its targets do not change while the plan is locked. */
export async function needsOfPlan(
  { tx, world, organization, now }: NeedsContext,
  plan: PlanRow,
  rules: readonly BoundRules[],
): Promise<Needs> {
  const { price, currency, operation } = plan;
  const targets = await ofOrganization(tx, organization)
    .selectFrom("plan_targets")
    .select(["reason", "contact_id"])
    .where("plan_id", "=", plan.id)
    .execute();
  const { input } = readContentOf(world, plan);
  const amount = price === null || currency === null ? null : { amount: price, currency };
  return needsOf(rules, {
    ...factsOfCall(operation, input),
    ...factsOfEffect({ targets, price: amount }),
    ...creating(operation),
    isOutside: await hasOutsideHours(tx, organization, { rules, now }),
  });
}
