/**
 * Separates simulated money from real money: each ledger entry and balance belongs to one of the two. Also
 * reserves the tokens of answers that are being written.
 *
 * Payments through the simulated processor become simulated money. It pays for the messages of simulated
 * inboxes, from the first message on, as far as it goes. Everything else is real money.
 */
import { type Kysely, sql } from "kysely";
import { newId } from "../id.ts";

const accounts = ["wallet", "held", "spent", "top_ups", "adjustments"];

/** The sum that the added entries move into an account; negative if they move money out of it. */
const movement = (account: string) => `
  sum(case '${account}' when to_account then amount when from_account then -amount else 0 end)`;

/** Takes the locks first: until the commit no process writes a message or an entry. */
const structure = [
  // Whether simulated money pays the hold of the current run.
  "alter table broadcasts add column simulated boolean not null default false",
  // For the previous version, which sends to the recipients of a broadcast without setting the column.
  `create function mark_simulated_charge() returns trigger language plpgsql as $$
  begin
    if (select simulated from broadcasts where organization_id = new.organization_id and id = new.broadcast_id) then
      new.charge := new.charge || '{"simulated": true}';
    end if;
    return new;
  end $$`,
  `create trigger messages_simulated_charge before insert on messages for each row
    when (new.broadcast_id is not null and new.charge is not null and not new.charge ? 'simulated')
    execute function mark_simulated_charge()`,

  "alter table ledger_entries add column simulated boolean not null default false",
  // The writer of an entry sets the column. For entries of the previous version, a trigger sets it.
  "alter table ledger_entries alter column simulated drop default",
  `create function mark_simulated_entry() returns trigger language plpgsql as $$
  begin
    new.simulated := coalesce(case
      when new.type in ('hold', 'charge', 'release', 'correction') and new.message_id is not null then (
        select (charge ->> 'simulated')::boolean from messages
        where organization_id = new.organization_id and id = new.message_id)
      when new.type in ('hold', 'release') then (
        select simulated from broadcasts
        where organization_id = new.organization_id and id = split_part(new.reference, ':', 1))
      when new.type in ('top_up', 'refund') then (
        select payment_order.processor = 'simulator'
        from payments as payment join payment_orders as payment_order
          on payment_order.organization_id = payment.organization_id and payment_order.id = payment.order_id
        where payment.organization_id = new.organization_id
          and payment.processor_payment_id = split_part(new.reference, ':', 2))
    end, false);
    return new;
  end $$`,
  `create trigger ledger_entries_simulated before insert on ledger_entries for each row
    when (new.simulated is null) execute function mark_simulated_entry()`,

  "alter table ledger_balances add column simulated boolean not null default false",
  "alter table ledger_balances drop constraint ledger_balances_pkey",
  "alter table ledger_balances add primary key (organization_id, simulated, part)",
  `create or replace function add_to_ledger_balances() returns trigger language plpgsql as $$
  begin
    insert into ledger_balances as balance (organization_id, simulated, part, ${accounts.join(", ")})
    select organization_id, simulated, pg_backend_pid() % 16, ${accounts.map(movement).join(", ")}
    from added group by organization_id, simulated
    on conflict (organization_id, simulated, part) do update
    set ${accounts.map((account) => `${account} = balance.${account} + excluded.${account}`).join(", ")};
    return null;
  end $$`,

  "alter table wallet_adjustments add column simulated boolean not null default false",
  // Like low_since, for simulated money.
  "alter table wallet_states add column simulated_low_since timestamptz",

  // The most tokens that the answer may use. They count until `reserved_until`, or until the real use is
  // recorded.
  "alter table chatbot_turns add column reserved_tokens integer, add column reserved_until timestamptz",
  `create index chatbot_turns_reserved on chatbot_turns (organization_id, reserved_until)
    where status = 'pending' and input_tokens is null and reserved_tokens is not null`,
];

/**
 * For each organization with simulated payments: what was paid, and the cost of each message of a simulated
 * inbox.
 */
const survey = [
  `create temporary table simulated_payments on commit drop as
    select entry.organization_id,
      sum(case entry.type when 'top_up' then entry.amount else -entry.amount end)::bigint as paid
    from ledger_entries as entry
    join payments as payment on payment.organization_id = entry.organization_id
      and payment.processor_payment_id = split_part(entry.reference, ':', 2)
    join payment_orders as payment_order on payment_order.organization_id = payment.organization_id
      and payment_order.id = payment.order_id and payment_order.processor = 'simulator'
    where entry.type in ('top_up', 'refund') and entry.message_id is null
    group by entry.organization_id`,
  // Spent amounts come before held amounts. A released message still costs something if it is delivered
  // later.
  `create temporary table simulated_costs on commit drop as
    select cost.*, sum(amount) over (partition by organization_id order by rank, id) as cost_so_far
    from (
      select message.organization_id, message.id,
        array_position(array['settled', 'released', 'held'], message.charge ->> 'status') as rank,
        (message.charge ->> case message.charge ->> 'status' when 'settled' then 'price' else 'held' end)::bigint as amount
      from simulated_payments
      join inboxes as inbox on inbox.organization_id = simulated_payments.organization_id and inbox.channel = 'simulator'
      join conversations as conversation on conversation.organization_id = inbox.organization_id
        and conversation.inbox_id = inbox.id
      join messages as message on message.organization_id = conversation.organization_id
        and message.conversation_id = conversation.id and message.charge is not null
      union all
      select recipient.organization_id, recipient.broadcast_id, 4, sum(recipient.price)::bigint
      from simulated_payments
      join inboxes as inbox on inbox.organization_id = simulated_payments.organization_id and inbox.channel = 'simulator'
      join broadcasts as broadcast on broadcast.organization_id = inbox.organization_id
        and broadcast.inbox_id = inbox.id
      join broadcast_recipients as recipient on recipient.organization_id = broadcast.organization_id
        and recipient.broadcast_id = broadcast.id and recipient.status = 'pending' and recipient.price is not null
      group by recipient.organization_id, recipient.broadcast_id
    ) as cost`,
  `create temporary table simulated_shares on commit drop as
    select organization_id, least(spent, paid) as spent, held, greatest(paid - spent, 0) - held as wallet
    from simulated_payments cross join lateral (
      select coalesce(sum(amount) filter (where rank = 1), 0)::bigint as spent,
        coalesce(sum(amount) filter (where rank > 1 and cost_so_far <= paid), 0)::bigint as held
      from simulated_costs where simulated_costs.organization_id = simulated_payments.organization_id
    ) as cost
    where paid > 0`,
];

const split = [
  `update messages set charge = charge || '{"simulated": true}'
    from simulated_costs join simulated_payments using (organization_id)
    where messages.organization_id = simulated_costs.organization_id and messages.id = simulated_costs.id and cost_so_far <= paid`,
  `update broadcasts set simulated = true
    from simulated_costs join simulated_payments using (organization_id)
    where broadcasts.organization_id = simulated_costs.organization_id and broadcasts.id = simulated_costs.id
      and cost_so_far <= paid`,
];

interface Share {
  readonly organization_id: string;
  readonly currency: string;
  readonly account: string;
  readonly amount: string | number;
  readonly now: Date | string;
}

const shares = `
  select organization_id, currency, account, amount, now() as now
  from simulated_shares join organizations on organizations.id = organization_id
  cross join lateral (values ('wallet', wallet), ('held', held), ('spent', spent)) as part (account, amount)
  where amount > 0`;

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of [...structure, ...survey, ...split]) {
    await sql.raw(statement).execute(database);
  }
  const { rows } = await sql.raw<Share>(shares).execute(database);
  for (const share of rows) {
    await move(database, share);
  }
}

/**
 * Moves the amount out of the real account, back to where the payments came from, and from there into the
 * simulated account.
 */
async function move(
  database: Kysely<unknown>,
  { organization_id, currency, account, amount, now }: Share,
): Promise<void> {
  for (const simulated of [false, true]) {
    const [from, to] = simulated ? ["top_ups", account] : [account, "top_ups"];
    const book = simulated ? "simulated" : "real";
    const time = new Date(now);
    await sql`
      insert into ledger_entries (organization_id, id, reference, type, from_account, to_account, amount, currency,
        created_at, simulated)
      values (${organization_id}, ${newId("txn", time)}, ${`split:${account}:${book}`}, 'split', ${from}, ${to},
        ${amount}::bigint, ${currency}, ${time.toISOString()}, ${simulated})
    `.execute(database);
  }
}
