/** The recipients of a broadcast as a plan has frozen them. */
import { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import type { BroadcastRow } from "../find.ts";
import type { RecipientCandidate } from "./candidates.ts";

const Frozen = z.object({
  country: z.string().nullable(),
  price: z.number().nullable(),
  variables: z.record(z.string(), z.string()).nullable(),
});

/** A recipient as the plan has stored it: `frozen` has what this file has put into it. */
export interface PlannedRecipient {
  readonly contact_id: string | null;
  readonly to: string | null;
  readonly reason: string | null;
  readonly frozen: unknown;
}

/** Of an excluded contact, some variables may have no value. */
export function freezeCandidate({ country, price, variables, reason }: RecipientCandidate) {
  return { country, price, variables: reason === null ? variables : null };
}

export function toFrozenRow({ contact_id, to, reason, frozen }: PlannedRecipient) {
  const { country, variables } = Frozen.parse(frozen);
  return { contact_id: contact_id ?? "", to, reason, country, variables };
}

/** @throws Failure `plan_changed` if a message costs more than the plan says. */
export async function requirePlannedPrices(
  tx: Transaction,
  { organization_id, id }: BroadcastRow,
  planned: readonly PlannedRecipient[],
): Promise<void> {
  const prices = new Map(planned.map(({ contact_id, frozen }) => [contact_id, Frozen.parse(frozen).price]));
  const recipients = await ofOrganization(tx, organization_id)
    .selectFrom("broadcast_recipients")
    .select(["contact_id", "price"])
    .where("broadcast_id", "=", id)
    .where("status", "=", "pending")
    .execute();
  const isDearer = recipients.some(
    ({ contact_id, price }) => price !== null && price > (prices.get(contact_id) ?? -1),
  );
  if (isDearer) {
    throw fail("plan_changed", { reason: "the price rose" });
  }
}
