/**
 * Stores the recipients of a broadcast as they are at its execution, and holds the price of all their
 * messages.
 */
import { sql } from "kysely";
import type { ExclusionReason } from "../../../../../tools/broadcasts/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { nullable, rowsOf, typed } from "../../../../database/query/index.ts";
import { capabilitiesOf, getOrDefaultInbox } from "../../../account/inboxes/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import { allCountries, type Rates, readRates } from "../../../money/prices/index.ts";
import {
  failInsufficient,
  holdAmount,
  type Payment,
  paymentOf,
  readAvailable,
} from "../../../money/wallet/index.ts";
import { recordCount } from "../../cohorts/index.ts";
import type { BroadcastRow } from "../find.ts";
import { type PreparedContent, requireReadyCohort } from "../prepare.ts";
import { insertCandidates, selectCandidates } from "./candidates.ts";
import { insertPlanned, type PlannedRecipient } from "./planned-recipients.ts";

export interface FreezeContext {
  readonly tx: Transaction;
  readonly world: World;
  readonly now: Date;
  readonly broadcast: BroadcastRow;
}

type Counts = Partial<Record<ExclusionReason, number>>;

/** The counts of the recipients, and how they are paid. */
export interface FreezeResult {
  readonly total: number;
  readonly excluded: Counts;
  readonly currency: string | null;
  /** Whether simulated money pays. */
  readonly simulated: boolean;
  /** In millionths of the currency's unit; 0 without a price. */
  readonly cost: number;
}

export interface FreezeOptions {
  /** Excludes the recipients that the wallet can't pay for. */
  readonly allowPartial: boolean;
  /** The recipients of a plan in batches, instead of the contacts that are in the cohort now. */
  readonly planned?: AsyncIterable<readonly PlannedRecipient[]>;
}

/**
 * @throws Failure `insufficient_funds`, `price_unknown`, `cohort_not_found`, `cohort_not_ready`,
 *   `plan_changed`.
 */
export async function freezeRecipients(
  context: FreezeContext,
  { template, mapping }: PreparedContent,
  { allowPartial, planned }: FreezeOptions,
): Promise<FreezeResult> {
  const { tx, now, broadcast } = context;
  const { organization_id: organization } = broadcast;
  const cohort = await requireReadyCohort(tx, organization, broadcast.cohort_id);
  const inbox = await inboxOfBroadcast(context);
  const { addresses } = capabilitiesOf(context.world, inbox);
  const payment = paymentOf(context.world, inbox);
  const rates = await readBroadcastRates(tx, organization, payment);
  const selection = { organization, addresses, rates, category: template.version.category };
  if (planned) {
    for await (const recipients of planned) {
      await insertPlanned(tx, broadcast, { selection, recipients });
    }
  } else {
    const candidates = selectCandidates({ ...selection, cohort, mapping, now });
    await insertCandidates(broadcast, candidates).execute(tx);
  }
  const counted = await countRecipients(tx, broadcast);
  if (!planned) {
    await recordCount(tx, cohort, counted.members);
  }
  if (counted.cost === null && payment.isLimited) {
    throw fail("price_unknown", { currency: rates.currency });
  }
  const { currency } = rates;
  const { simulated } = payment;
  const required = counted.cost ?? 0;
  if (await holdCost(context, payment, { amount: required, currency })) {
    const { total, excluded, cost } = counted;
    return { total, excluded, currency: cost === null ? null : currency, simulated, cost: cost ?? 0 };
  }
  if (!allowPartial) {
    throw await failInsufficient(tx, context.world, { organization, simulated, required });
  }
  await excludeUnpaid(context, payment);
  const rest = await countRecipients(tx, broadcast);
  if (rest.total === 0) {
    throw await failInsufficient(tx, context.world, { organization, simulated, required });
  }
  await holdCost(context, payment, { amount: rest.cost ?? 0, currency });
  return { total: rest.total, excluded: rest.excluded, currency, simulated, cost: rest.cost ?? 0 };
}

/** The prices of all countries; none if the messages of the inbox have no price. */
export async function readBroadcastRates(
  tx: Transaction,
  organization: string,
  { isPriced }: Payment,
): Promise<Rates> {
  const rates = await readRates(tx, organization, allCountries);
  return isPriced ? rates : { ...rates, table: null };
}

/** How the messages of a broadcast are paid. */
export async function paymentOfBroadcast(context: FreezeContext): Promise<Payment> {
  return paymentOf(context.world, await inboxOfBroadcast(context));
}

function inboxOfBroadcast({ tx, broadcast }: FreezeContext) {
  return getOrDefaultInbox(tx, broadcast.organization_id, broadcast.inbox_id);
}

/** Holds the cost of a run, once per run. Returns false if the wallet has to pay and can't. */
export async function holdCost(
  context: FreezeContext,
  { simulated, isLimited }: Payment,
  { amount, currency }: { readonly amount: number; readonly currency: string },
): Promise<boolean> {
  const { tx, world, now, broadcast } = context;
  if (amount === 0) {
    return true;
  }
  const { organization_id, id, runs } = broadcast;
  const reference = `${id}:hold:${runs + 1}`;
  const hold = { organization_id, reference, amount, currency, message_id: null, simulated, isLimited };
  return holdAmount(tx, world, hold, now);
}

/** Excludes recipients, last contact id first, until the wallet can pay for the remaining ones. */
async function excludeUnpaid({ tx, world, broadcast }: FreezeContext, { simulated }: Payment): Promise<void> {
  const { organization_id, id } = broadcast;
  const available = await readAvailable(tx, world, { organization: organization_id, simulated });
  await sql`
    update broadcast_recipients set status = 'excluded', reason = 'insufficient_funds', variables = null
    from (
      select contact_id, sum(price) over (order by contact_id) as cost from broadcast_recipients
      where organization_id = ${organization_id} and broadcast_id = ${id} and status = 'pending'
    ) as paid
    where organization_id = ${organization_id} and broadcast_id = ${id}
      and broadcast_recipients.contact_id = paid.contact_id and paid.cost > ${available}
  `.execute(tx);
}

async function countRecipients(tx: Transaction, { organization_id, id }: BroadcastRow) {
  const { rows } = await rowsOf({
    reason: typed<ExclusionReason | null>("text"),
    count: "bigint",
    cost: nullable("bigint"),
  })`
    select reason, count(*) as count, sum(price)::bigint as cost from broadcast_recipients
    where organization_id = ${organization_id} and broadcast_id = ${id}
    group by reason
  `.execute(tx);
  const included = rows.find(({ reason }) => reason === null);
  const excluded: Counts = Object.fromEntries(
    rows.flatMap(({ reason, count }) => (reason === null ? [] : [[reason, count]])),
  );
  const members = rows.reduce((sum, { count }) => sum + count, 0);
  return { members, total: included?.count ?? 0, excluded, cost: included ? included.cost : 0 };
}
