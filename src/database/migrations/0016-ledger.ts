/** The ledger of each organization's wallet, and what each message is charged. */
import { type Kysely, sql } from "kysely";

const accounts = ["wallet", "held", "spent", "top_ups", "adjustments"];

/** The sum that the added entries move into an account; negative if they move money out of it. */
const movement = (account: string) => `
  sum(case '${account}' when to_account then amount when from_account then -amount else 0 end)`;

const statements = [
  // Null applies the setting. In millionths of the currency's unit, like every amount in the ledger.
  "alter table organizations add column credit_limit bigint, add column low_balance_threshold bigint",
  // The ledger refers to both columns: the currency can't change once money has moved.
  "alter table organizations add constraint organizations_currency unique (id, currency)",

  `create table ledger_entries (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    -- Names the cause: the same cause can't count twice.
    reference text collate "C" not null,
    type text not null,
    from_account text not null,
    to_account text not null,
    amount bigint not null check (amount > 0),
    currency text not null,
    -- Null: no message is the cause.
    message_id text collate "C",
    created_at timestamptz not null,
    primary key (organization_id, id),
    check (from_account <> to_account),
    foreign key (organization_id, currency) references organizations (id, currency)
  )`,
  "create unique index ledger_entries_reference on ledger_entries (organization_id, reference)",
  // Finds the few entries without a message.
  "create index ledger_entries_other on ledger_entries (organization_id, id) where message_id is null",

  `create table ledger_balances (
    organization_id text collate "C" not null,
    -- A balance is the sum of its parts. Connections add to different ones, so that they do not wait for each other.
    part smallint not null,
    ${accounts.map((account) => `${account} bigint not null`).join(", ")},
    primary key (organization_id, part),
    -- Double entry: what leaves one account enters another.
    check (${accounts.join(" + ")} = 0)
  ) with (fillfactor = 50)`, // room for new versions of a row on its page

  `create function add_to_ledger_balances() returns trigger language plpgsql as $$
  begin
    insert into ledger_balances as balance (organization_id, part, ${accounts.join(", ")})
    select organization_id, pg_backend_pid() % 16, ${accounts.map(movement).join(", ")}
    from added group by organization_id
    on conflict (organization_id, part) do update
    set ${accounts.map((account) => `${account} = balance.${account} + excluded.${account}`).join(", ")};
    return null;
  end $$`,
  `create trigger ledger_entries_balance after insert on ledger_entries
    referencing new table as added for each statement execute function add_to_ledger_balances()`,
  `create function reject_ledger_change() returns trigger language plpgsql as $$
  begin
    raise exception 'Ledger entries are never changed or deleted.';
  end $$`,
  `create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
    for each statement execute function reject_ledger_change()`,

  // The operator's reasons for changes of balances, because ledger entries have no text.
  `create table wallet_adjustments (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    amount bigint not null check (amount <> 0),
    reason text not null,
    created_at timestamptz not null,
    primary key (organization_id, id)
  )`,

  `create table wallet_states (
    organization_id text collate "C" primary key references organizations (id),
    -- Null: the balance has not fallen below the organization's threshold since it was last above.
    low_since timestamptz
  )`,

  // The message up to which charges of each organization were released that no receipt has settled.
  `create table released_charges (
    organization_id text collate "C" primary key references organizations (id),
    through_message_id text collate "C" not null
  )`,

  // An event may belong to no conversation.
  "alter table events alter column conversation_id drop not null",

  // Null if the message is not charged.
  "alter table messages add column charge jsonb",
  "alter table parked_receipts add column pricing jsonb",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
