/** Estimates a broadcast: whom it would reach now, who would be excluded, and what it costs. */
import { sql } from "kysely";
import type { ExclusionReason } from "../../../../tools/broadcasts/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { fromMicros, toMicros } from "../../../../tools/money.ts";
import type { Transaction } from "../../../database/database.ts";
import { requireCohort } from "../../cohorts/index.ts";
import type { World } from "../../kernel/index.ts";
import { allCountries, readRates } from "../../prices/index.ts";
import { mustPay, readWallet } from "../../wallet/index.ts";
import { type BroadcastRow, requireState } from "../find.ts";
import { contentOf, prepareContent } from "../prepare.ts";
import { selectCandidates } from "../sending/index.ts";

interface EstimateContext {
  readonly tx: Transaction;
  readonly world: World;
  readonly now: Date;
}

/** @throws Failure if the broadcast could not be executed for another reason than its cost. */
export async function estimateBroadcast({ tx, world, now }: EstimateContext, broadcast: BroadcastRow) {
  requireState(broadcast, { allowed: ["draft", "scheduled"], action: "estimated" });
  const { organization_id: organization } = broadcast;
  const { template, mapping } = await prepareContent(tx, organization, contentOf(broadcast));
  const cohort = await requireCohort(tx, organization, broadcast.cohort_id);
  if (cohort.status !== "ready") {
    throw fail("cohort_not_ready");
  }
  const rates = await readRates(tx, organization, allCountries);
  const { category } = template.version;
  const { rows } = await sql<Group>`
    select reason, country, count(*) as count, sum(price)::bigint as cost
    from (${selectCandidates({ organization, cohort, mapping, rates, category, now })}) as candidate
    group by reason, country order by cost desc nulls last, country
  `.execute(tx);
  const included = rows.filter(({ reason }) => reason === null);
  const recipient_count = sum(included, ({ count }) => count);
  const hasPrices = rates.table !== null;
  const cost = hasPrices ? sum(included, (group) => group.cost ?? 0) : null;
  const wallet = await readWallet(tx, world, organization);
  const available_after = cost === null ? null : fromMicros(toMicros(wallet.available) - cost);
  const inbox = await tx
    .selectFrom("inboxes")
    .select(["channel", "settings"])
    .where("organization_id", "=", organization)
    .where("id", "=", template.inbox_id)
    .executeTakeFirstOrThrow();
  return {
    ...{ recipient_count, excluded: countExcluded(rows), currency: rates.currency },
    cost: cost === null ? null : fromMicros(cost),
    costs: hasPrices
      ? included.map((group) => ({
          country: group.country,
          recipients: group.count,
          cost: fromMicros(group.cost ?? 0),
        }))
      : [],
    ...{ available: wallet.available, available_after },
    is_affordable: !mustPay(world, inbox) || (available_after !== null && available_after >= 0),
  };
}

interface Group {
  readonly reason: ExclusionReason | null;
  readonly country: string | null;
  readonly count: number;
  readonly cost: number | null;
}

function sum(groups: readonly Group[], valueIn: (group: Group) => number): number {
  return groups.reduce((total, group) => total + valueIn(group), 0);
}

function countExcluded(groups: readonly Group[]): Partial<Record<ExclusionReason, number>> {
  const counts: Partial<Record<ExclusionReason, number>> = {};
  for (const { reason, count } of groups) {
    if (reason !== null) {
      counts[reason] = (counts[reason] ?? 0) + count;
    }
  }
  return counts;
}
