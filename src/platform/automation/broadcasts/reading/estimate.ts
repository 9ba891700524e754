/** Estimates a broadcast: whom it would reach now, who would be excluded, and what it costs. */

import type { RawBuilder } from "kysely";
import type { ExclusionReason } from "../../../../../tools/broadcasts/index.ts";
import { InboxSettings } from "../../../../../tools/inboxes.ts";
import { fromMicros } from "../../../../../tools/money.ts";
import {
  columnOf,
  columnsOf,
  nullable,
  type RowOf,
  rowsOf,
  typed,
} from "../../../../database/query/index.ts";
import { capabilitiesOf, getOrDefaultInbox } from "../../../account/inboxes/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import type { Rates } from "../../../money/prices/index.ts";
import { paymentOf, readAvailable } from "../../../money/wallet/index.ts";
import { type BroadcastRow, requireState } from "../find.ts";
import { broadcastContent, type PreparedContent, prepareContent, requireReadyCohort } from "../prepare.ts";
import {
  type DailyLimit,
  leftToday,
  type RecipientCandidate,
  readBroadcastRates,
  selectCandidates,
  startable,
} from "../sending/index.ts";
import { countMissing, type MappedCandidates, warnOfAttributes } from "./missing.ts";

interface EstimateContext {
  readonly tx: Transaction;
  readonly world: World;
  readonly now: Date;
  /** Whether the caller may read contacts. */
  readonly showsContacts: boolean;
}

/** @throws Failure if the broadcast could not be executed for another reason than its cost. */
export async function estimateBroadcast(context: EstimateContext, broadcast: BroadcastRow) {
  const { tx, world, now } = context;
  requireState(broadcast, { allowed: startable, action: "estimated" });
  const { organization_id: organization } = broadcast;
  const prepared = await prepareContent(context, organization, broadcastContent(broadcast));
  const inbox = await getOrDefaultInbox(tx, organization, prepared.template.inbox_id);
  const payment = paymentOf(world, inbox);
  const rates = await readBroadcastRates(tx, organization, payment);
  const candidates = await candidatesOf(context, broadcast, { prepared, inbox, rates });
  const groups = await groupCandidates(tx, candidates);
  const included = groups.filter(({ reason }) => reason === null);
  const recipient_count = included.reduce((total, { count }) => total + count, 0);
  const excluded = countExcluded(groups);
  const { missing_variables, warnings } = await explainMissing(
    tx,
    { recipient_count, excluded },
    {
      organization,
      mapping: prepared.mapping,
      candidates,
    },
  );
  const { simulated } = payment;
  const available = await readAvailable(tx, world, { organization, simulated });
  const cost = rates.table && included.reduce((total, group) => total + (group.cost ?? 0), 0);
  const available_after = cost === null ? null : available - cost;
  return {
    recipient_count,
    excluded,
    missing_variables,
    excluded_samples: context.showsContacts ? await listExcluded(tx, organization, candidates) : [],
    category: prepared.template.version.category,
    currency: rates.currency,
    cost: cost === null ? null : fromMicros(cost),
    costs: cost === null ? [] : included.map(costOf),
    available: fromMicros(available),
    available_after: available_after === null ? null : fromMicros(available_after),
    mode: world.wallet.mode,
    simulated,
    is_affordable: !payment.isLimited || (available_after !== null && available_after >= 0),
    ...estimateTime({ inbox, recipient_count, today: await leftToday(tx, inbox, now) }),
    warnings,
  };
}

interface Counts {
  readonly recipient_count: number;
  readonly excluded: Partial<Record<ExclusionReason, number>>;
}

/** Two more statements, only if a contact is excluded for a missing value. */
async function explainMissing(
  tx: Transaction,
  { recipient_count, excluded }: Counts,
  mapped: MappedCandidates,
) {
  const { missing_variable: count = 0, invalid_value: invalid = 0 } = excluded;
  const missing_variables = count === 0 ? {} : await countMissing(tx, mapped.candidates);
  const names = Object.keys(missing_variables).filter((name) => missing_variables[name] === count);
  // A contact who is excluded for another value has this one.
  const warnings = recipient_count + invalid === 0 ? await warnOfAttributes(tx, names, mapped) : [];
  return { missing_variables, warnings };
}

interface Basis {
  readonly prepared: PreparedContent;
  readonly inbox: { readonly channel: string };
  readonly rates: Rates;
}

async function candidatesOf(
  { tx, world, now }: EstimateContext,
  { organization_id: organization, cohort_id }: BroadcastRow,
  { prepared: { template, mapping }, inbox, rates }: Basis,
): Promise<RawBuilder<RecipientCandidate>> {
  const cohort = await requireReadyCohort(tx, organization, cohort_id);
  const { category } = template.version;
  const { addresses } = capabilitiesOf(world, inbox);
  return selectCandidates({ organization, cohort, mapping, addresses, rates, category, now });
}

/** Counts the candidates by country and reason of exclusion. */
async function groupCandidates(
  tx: Transaction,
  candidates: RawBuilder<RecipientCandidate>,
): Promise<readonly Group[]> {
  const { rows } = await rowsOf(groupColumns)`
    select reason, country, count(*) as count, sum(price)::bigint as cost from (${candidates}) as candidate
    group by reason, country order by cost desc nulls last, country
  `.execute(tx);
  return rows;
}

const samplesOfReason = 5;

const excludedColumns = {
  reason: typed<ExclusionReason>("text"),
  contact_id: columnOf("contacts", "id"),
  ...columnsOf("contacts", "name"),
  missing_variables: "text[]",
} as const;

async function listExcluded(
  tx: Transaction,
  organization: string,
  candidates: RawBuilder<RecipientCandidate>,
) {
  const { rows } = await rowsOf(excludedColumns)`
    select sample.reason, sample.contact_id, contacts.name,
      array(
        select variable from jsonb_each_text(sample.variables) as given (variable, value)
        where sample.reason = 'missing_variable' and value is null order by variable
      ) as missing_variables
    from (
      select reason, contact_id, variables, row_number() over (partition by reason order by contact_id) as place
      from (${candidates}) as candidate where reason is not null
    ) as sample
    join contacts on contacts.organization_id = ${organization} and contacts.id = sample.contact_id
    where sample.place <= ${samplesOfReason}
    order by sample.reason, sample.contact_id
  `.execute(tx);
  return rows;
}

const costOf = ({ country, count, cost }: Group) => ({
  country,
  recipients: count,
  cost: fromMicros(cost ?? 0),
});

interface SendingPlan {
  readonly inbox: { readonly settings: Record<string, unknown> };
  readonly recipient_count: number;
  /** Null: the inbox has no limit per 24 hours. */
  readonly today: DailyLimit | null;
}

const daySeconds = 24 * 3_600;

/**
 * Estimates the sending time by the limits of the inbox and of its number. The channel itself may take
 * longer.
 */
function estimateTime({ inbox, recipient_count, today }: SendingPlan) {
  const { messages_per_second: rate } = InboxSettings.parse(inbox.settings);
  const { left = recipient_count, limit = 0 } = today ?? {};
  const waiting = Math.max(0, recipient_count - left);
  const days = waiting === 0 ? 0 : Math.ceil(waiting / limit);
  const lastDay = waiting === 0 ? recipient_count : waiting - (days - 1) * limit;
  const seconds = rate === undefined ? null : Math.ceil(lastDay / rate);
  return { waiting, duration_seconds: days === 0 ? seconds : days * daySeconds + (seconds ?? 0) };
}

const groupColumns = {
  reason: typed<ExclusionReason | null>("text"),
  ...columnsOf("contacts", "country"),
  count: "bigint",
  cost: nullable("bigint"),
} as const;

type Group = RowOf<typeof groupColumns>;

function countExcluded(groups: readonly Group[]): Partial<Record<ExclusionReason, number>> {
  const counts: Partial<Record<ExclusionReason, number>> = {};
  for (const { reason, count } of groups) {
    if (reason !== null) {
      counts[reason] = (counts[reason] ?? 0) + count;
    }
  }
  return counts;
}
