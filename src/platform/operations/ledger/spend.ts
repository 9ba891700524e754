/** Sums the charges of a period, by day, kind, category and country. */
import { type RawBuilder, sql } from "kysely";
import { fail } from "../../../../tools/errors.ts";
import { maxSpendDays, type SpendGroup, type spendKinds } from "../../../../tools/ledger.ts";
import { fromMicros } from "../../../../tools/money.ts";
import type { Queries } from "../../../database/database.ts";
import { lowestId } from "../../../database/id.ts";
import { nullable, onlyRow, rowsOf, typed } from "../../../database/query/index.ts";
import { getOrganization } from "../../account/organization/index.ts";

const dayMs = 24 * 3_600_000;
const defaultDays = 30;

/** Days in UTC, such as 2026-11-30; both days are included. */
interface Period {
  readonly from: string;
  readonly to: string;
}

/** @throws Failure `period_invalid`. */
export function readPeriod(days: { readonly [Day in keyof Period]?: string | undefined }, now: Date): Period {
  const to = days.to ?? toDay(now);
  const from = days.from ?? toDay(new Date(Date.parse(to) - (defaultDays - 1) * dayMs));
  const length = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  if (length < 1 || length > maxSpendDays) {
    const reason = length < 1 ? "empty: to is before from" : `longer than ${maxSpendDays} days`;
    throw fail("period_invalid", { reason, param: "from" });
  }
  return { from, to };
}

interface SpendQuery extends Period {
  readonly by: SpendGroup | undefined;
  readonly simulated: boolean;
}

const spendColumns = {
  day: nullable("text"),
  kind: typed<(typeof spendKinds)[number] | null>("text"),
  category: nullable("text"),
  country: nullable("text"),
  count: "bigint",
  amount: "bigint",
} as const;

export async function readSpend(db: Queries, organization: string, query: SpendQuery) {
  const { from, to, by, simulated } = query;
  const group = (name: SpendGroup) => (by === undefined || by === name ? sql.ref(name) : sql`null::text`);
  const { rows } = await rowsOf(spendColumns)`
    select day, kind, category, country, count(distinct cause) as count, sum(amount)::bigint as amount
    from (
      select ${group("day")} as day, ${group("kind")} as kind, ${group("category")} as category,
        ${group("country")} as country, cause, amount
      from (${selectCharges(organization, query)}) as charged
      where is_simulated = ${simulated}
    ) as grouped
    group by day, kind, category, country
    order by day desc, amount desc, kind, category, country
  `.execute(db);
  const others = await rowsOf({ amount: "bigint" })`
    select coalesce(sum(amount), 0)::bigint as amount
    from (${selectCharges(organization, query)}) as charged where is_simulated <> ${simulated}
  `.execute(db);
  const { currency } = await getOrganization(db, organization);
  const total = rows.reduce((sum, { amount }) => sum + amount, 0);
  const spend = rows.map((row) => ({ ...row, amount: fromMicros(row.amount) }));
  const other_total = fromMicros(onlyRow(others.rows).amount);
  return { currency, from, to, simulated, total: fromMicros(total), other_total, spend };
}

/**
 * The ids of entries sort by time. Whether real or simulated money pays a message follows from its charge,
 * even if its other entries are older.
 */
function selectCharges(organization: string, { from, to }: Period): RawBuilder<unknown> {
  return sql`
    select to_char(entry.created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
      case when entry.type in ('usage', 'fee') then entry.type
        when message.broadcast_id is not null then 'broadcast' else 'message' end as kind,
      message.charge ->> 'category' as category, message.charge ->> 'country' as country,
      coalesce(case when entry.type in ('charge', 'correction') then entry.message_id end, entry.id) as cause,
      case entry.to_account when 'spent' then entry.amount else -entry.amount end as amount,
      coalesce((message.charge ->> 'simulated')::boolean, entry.simulated) as is_simulated
    from ledger_entries as entry
    left join messages as message on message.organization_id = entry.organization_id
      and message.id = entry.message_id and entry.type in ('charge', 'correction')
    where entry.organization_id = ${organization} and entry.type in ('charge', 'correction', 'usage', 'fee')
      and entry.id >= ${lowestId("txn", new Date(from))}
      and entry.id < ${lowestId("txn", new Date(Date.parse(to) + dayMs))}`;
}

function toDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}
