/** What a plan asks for under the rules of who runs it. */
import { catalogue } from "../../../../../tools/index.ts";
import {
  type BoundRules,
  contactCreatingOperations,
  unpricedOperations,
} from "../../../../../tools/rules.ts";
import { rowsOf } from "../../../../database/query/index.ts";
import {
  type ActFacts,
  hasOutsideHours,
  isBroadcasting,
  isConfiguring,
  type Needs,
  needsOf,
} from "../../../account/rules/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import { type PlanRow, readContentOf } from "../store.ts";
import type { CallEffect } from "../targets.ts";

/** Facts of the targets of a call that has none. */
export const noTargets = { recipients: 0, amount: 0, newContacts: 0 };

/** The facts of a call that its targets and its price do not tell. */
export function unknownOf(
  operation: string,
  input: unknown,
): Partial<Pick<ActFacts, "newContacts" | "amount">> {
  return {
    ...(createsContacts(operation, input) && { newContacts: null }),
    ...(unpricedOperations.includes(operation) && { amount: null }),
  };
}

/** A cohort of a file has contacts for all its numbers. */
function createsContacts(operation: string, input: unknown): boolean {
  const { upload_id, csv_url } = Object(input);
  const isList = operation === "create_cohort" && (upload_id !== undefined || csv_url !== undefined);
  return isList || contactCreatingOperations.includes(operation);
}

/** The facts of a call that do not depend on whom it reaches. */
export function factsOfCall(operation: string, input: unknown) {
  const declared = Object.entries(catalogue).find(([name]) => name === operation)?.[1];
  return {
    deletes: declared?.method === "DELETE",
    configures: isConfiguring(operation, input),
    broadcasts: isBroadcasting(operation, input),
  };
}

/** The recipients of a broadcast, of whom there may be many, are contacts. */
export function factsOfEffect({
  targets,
  price,
  remaining,
}: CallEffect): Pick<ActFacts, "recipients" | "amount" | "newContacts"> {
  const reached = targets.filter(({ reason }) => reason === null);
  const newContacts = reached.filter(({ contact_id }) => contact_id === null).length;
  const recipients = remaining?.recipients ?? reached.length;
  return { recipients, amount: price?.amount ?? 0, newContacts };
}

interface NeedsContext {
  readonly tx: Transaction;
  readonly world: World;
  readonly organization: string;
  readonly now: Date;
}

/** Whom a stored plan reaches and at what price. Its targets do not change while the plan is locked. */
export async function factsOfPlan(
  { tx, world, organization }: Pick<NeedsContext, "tx" | "world" | "organization">,
  { id, price, currency, operation, content }: PlanRow,
) {
  const { input } = readContentOf(world, { content });
  const { rows } = await rowsOf({ recipients: "bigint", new_contacts: "bigint" })`
    select count(*) as recipients, count(*) filter (where contact_id is null) as new_contacts
    from plan_targets
    where organization_id = ${organization} and plan_id = ${id} and reason is null
  `.execute(tx);
  const { recipients = 0, new_contacts: newContacts = 0 } = rows[0] ?? {};
  const amount = price === null || currency === null ? 0 : price;
  return { recipients, amount, newContacts, ...unknownOf(operation, input) };
}

/** What a stored plan needs before it runs. */
export async function needsOfPlan(
  { tx, world, organization, now }: NeedsContext,
  plan: PlanRow,
  rules: readonly BoundRules[],
): Promise<Needs> {
  const { input } = readContentOf(world, plan);
  return needsOf(rules, {
    ...factsOfCall(plan.operation, input),
    ...(await factsOfPlan({ tx, world, organization }, plan)),
    isOutside: await hasOutsideHours(tx, organization, { rules, now }),
  });
}
