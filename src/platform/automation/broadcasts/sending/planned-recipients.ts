/** The recipients of a broadcast as a plan has frozen them. */
import { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import { columnsOf, ofOrganization, rowsOf } from "../../../../database/query/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import type { BroadcastRow } from "../find.ts";
import { insertCandidates, type RecipientCandidate, selectFrozen } from "./candidates.ts";

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

interface PlannedBatch {
  readonly selection: Parameters<typeof selectFrozen>[0];
  readonly recipients: readonly PlannedRecipient[];
}

/** Stores recipients with the present prices. @throws Failure `plan_changed` if a message costs more. */
export async function insertPlanned(
  tx: Transaction,
  broadcast: BroadcastRow,
  { selection, recipients }: PlannedBatch,
): Promise<void> {
  const planned = recipients.map(({ contact_id, to, reason, frozen }) => ({
    ...Frozen.parse(frozen),
    contact_id: contact_id ?? "",
    to,
    reason,
  }));
  const columns = columnsOf("broadcast_recipients", "contact_id", "status", "price");
  const { rows } = await rowsOf(columns)`
    ${insertCandidates(broadcast, selectFrozen(selection, planned))} returning contact_id, status, price
  `.execute(tx);
  requireNoDearer(
    rows.filter(({ status }) => status === "pending"),
    planned,
  );
}

/** @throws Failure `plan_changed` if a pending message costs more than the plan says. */
export async function requirePlannedPrices(
  tx: Transaction,
  { organization_id, id }: BroadcastRow,
  planned: readonly PlannedRecipient[],
): Promise<void> {
  const pending = await ofOrganization(tx, organization_id)
    .selectFrom("broadcast_recipients")
    .select(["contact_id", "price"])
    .where("broadcast_id", "=", id)
    .where("status", "=", "pending")
    .execute();
  const recipients = planned.map(({ contact_id, frozen }) => ({ contact_id, ...Frozen.parse(frozen) }));
  requireNoDearer(pending, recipients);
}

function requireNoDearer(
  pending: readonly { readonly contact_id: string; readonly price: number | null }[],
  planned: readonly { readonly contact_id: string | null; readonly price: number | null }[],
): void {
  const prices = new Map(planned.map(({ contact_id, price }) => [contact_id, price]));
  if (pending.some(({ contact_id, price }) => price !== null && price > (prices.get(contact_id) ?? -1))) {
    throw fail("plan_changed", { reason: "the price rose" });
  }
}
