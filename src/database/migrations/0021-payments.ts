/** Payments: orders, their payments, the events of the processor, and the simulated processor. */
import { type Kysely, sql } from "kysely";

const statements = [
  // Amounts are in the smallest unit of the currency.
  `create table payment_orders (
    organization_id text collate "C" not null,
    -- Also the receipt by which the processor finds the order.
    id text collate "C" not null,
    processor text not null,
    -- Null until the processor has answered.
    processor_order_id text collate "C",
    amount bigint not null check (amount > 0),
    currency text not null,
    status text not null,
    -- The payment that was credited: one for each order.
    paid_by text collate "C",
    paid_at timestamptz,
    -- When its payments are read again. Null: no more.
    next_check_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id),
    -- The currency can't change once there is an order.
    foreign key (organization_id, currency) references organizations (id, currency)
  )`,
  "create unique index payment_orders_processor on payment_orders (processor_order_id, processor)",
  "create index payment_orders_due on payment_orders (next_check_at) where next_check_at is not null",
  `create index payment_orders_unconfirmed on payment_orders (organization_id, amount)
    where status = 'unconfirmed'`,
  `create table payments (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    order_id text collate "C" not null,
    processor_order_id text collate "C" not null,
    processor_payment_id text collate "C" not null,
    amount bigint not null check (amount > 0),
    currency text not null,
    status text not null,
    -- Whether the money was ever taken.
    is_captured boolean not null,
    amount_refunded bigint not null,
    disposition text,
    -- How much of its refunds was taken from the wallet.
    amount_debited bigint not null default 0 check (amount_debited <= amount_refunded),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, order_id) references payment_orders (organization_id, id)
  )`,
  "create unique index payments_processor on payments (processor_payment_id)",
  "create unique index payments_credited on payments (organization_id, order_id) where disposition = 'credited'",
  `create table payment_events (
    organization_id text collate "C" not null,
    event_id text collate "C" not null,
    received_at timestamptz not null,
    primary key (organization_id, event_id)
  )`,
  "create index payment_events_received on payment_events (received_at)",
  `create table simulator_payment_orders (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    receipt text collate "C" not null,
    amount bigint not null,
    currency text not null,
    created_at timestamptz not null,
    primary key (organization_id, id)
  )`,
  "create unique index simulator_payment_orders_receipt on simulator_payment_orders (organization_id, receipt)",
  `create table simulator_payments (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    order_id text collate "C" not null,
    status text not null,
    amount_refunded bigint not null default 0,
    created_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, order_id) references simulator_payment_orders (organization_id, id)
  )`,
  "create index simulator_payments_order on simulator_payments (organization_id, order_id)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
