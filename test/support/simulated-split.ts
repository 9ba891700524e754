/**
 * What a database that an earlier version wrote should have as simulated money, found in another way
 * than by its migration.
 */
import { sql } from "kysely";
import type { Queries } from "../../src/database/database.ts";

/** In millionths of the currency's unit. */
interface SimulatedMoney {
  readonly balance: number;
  readonly held: number;
  readonly spent: number;
}

/**
 * By the entries of the earlier version: the simulated payments without the charges of simulated inboxes, but
 * never less than nothing; and of what is held for simulated inboxes, all that it covers.
 */
export async function expectSimulatedMoney(queries: Queries): Promise<SimulatedMoney> {
  const { rows } = await sql<{ paid: number; spent: number; held: number }>`
    with entry as (
      select entry.*, inbox.channel
      from ledger_entries as entry
      left join messages as message on message.id = entry.message_id
      left join conversations as conversation on conversation.id = message.conversation_id
      left join broadcasts as broadcast on broadcast.id = split_part(reference, ':', 1)
      left join inboxes as inbox on inbox.id = coalesce(conversation.inbox_id, broadcast.inbox_id)
      where entry.type <> 'split'
    )
    select
      coalesce(sum(case type when 'top_up' then amount when 'refund' then -amount end), 0)::bigint as paid,
      coalesce(sum(case when to_account = 'spent' then amount when from_account = 'spent' then -amount end)
        filter (where type in ('charge', 'correction') and channel = 'simulator'), 0)::bigint as spent,
      coalesce(sum(case when to_account = 'held' then amount when from_account = 'held' then -amount end)
        filter (where channel = 'simulator'), 0)::bigint as held
    from entry
    -- The payments of a dump are all of one processor.
    where type not in ('top_up', 'refund') or exists (select from payment_orders where processor = 'simulator')
  `.execute(queries);
  const { paid = 0, spent = 0, held = 0 } = rows[0] ?? {};
  const balance = Math.max(0, paid - spent);
  return { balance, held: Math.min(held, balance), spent: Math.min(spent, paid) };
}

/** By the balances. */
export async function readSimulatedMoney(queries: Queries): Promise<SimulatedMoney> {
  const { rows } = await sql<SimulatedMoney>`
    select coalesce(sum(wallet + held), 0)::bigint as balance, coalesce(sum(held), 0)::bigint as held,
      coalesce(sum(spent), 0)::bigint as spent
    from ledger_balances where simulated
  `.execute(queries);
  return rows[0] ?? { balance: 0, held: 0, spent: 0 };
}

/**
 * What the real and the simulated money hold, each without what messages and recipients hold of it: nothing.
 */
export async function readUnexplainedHolds(queries: Queries): Promise<readonly number[]> {
  const { rows } = await sql<{ unexplained: number }>`
    with hold as (
      select coalesce((charge ->> 'simulated')::boolean, false) as simulated, (charge ->> 'held')::bigint as amount
      from messages where charge ->> 'status' = 'held'
      union all
      select broadcasts.simulated, price from broadcast_recipients as recipient
      join broadcasts on broadcasts.id = recipient.broadcast_id where recipient.status = 'pending'
    )
    select (coalesce((select sum(held) from ledger_balances where simulated = book), 0)
      - coalesce((select sum(amount) from hold where simulated = book), 0))::bigint as unexplained
    from (values (false), (true)) as books (book)
  `.execute(queries);
  return rows.map(({ unexplained }) => unexplained);
}

type Wallet = Readonly<Record<string, number | object>> & { readonly simulated: Record<string, number> };

/** Whether answers are of a version that keeps simulated money apart. */
export function hasSeparateMoney(answers: Readonly<Record<string, unknown>>): boolean {
  // As the catalogue declares it; the first versions had no wallet.
  const wallet = answers["/v1/billing/wallet"] as { data: Partial<Wallet> } | undefined;
  return wallet?.data.simulated !== undefined;
}

/**
 * Answers as an earlier version gave them: of the real and the simulated money together, without the
 * entries of the split.
 */
export function joinMoney(answers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(answers).map(([path, answer]) => {
      // As the catalogue declares them.
      if (path === "/v1/billing/wallet") {
        return [path, { data: joinWallet((answer as { data: Wallet }).data) }];
      }
      if (path.startsWith("/v1/billing/ledger")) {
        const { data, meta } = answer as { data: { type: string }[]; meta: { total: number } };
        const entries = data.filter(({ type }) => type !== "split");
        return [
          path,
          { data: entries, meta: { ...meta, total: meta.total - (data.length - entries.length) } },
        ];
      }
      return [path, answer];
    }),
  );
}

function joinWallet({ simulated, ...wallet }: Wallet) {
  const sums = Object.entries(simulated).flatMap(([name, amount]) => {
    const other = wallet[name];
    return typeof amount === "number" && typeof other === "number"
      ? [[name, Number((amount + other).toFixed(6))] as const]
      : [];
  });
  return { ...wallet, ...Object.fromEntries(sums) };
}
