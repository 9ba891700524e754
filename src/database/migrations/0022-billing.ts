/**
 * The organizations' subscriptions to a plan, their chatbot add-ons, and the lowest price of an add-on's
 * unit.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table subscriptions (
    organization_id text collate "C" primary key references organizations (id),
    id text collate "C" not null,
    plan_type text not null,
    status text not null,
    billing_cycle text not null,
    cancel_at_period_end boolean not null,
    -- Where period 0 began. The others begin whole months or years later.
    anchor_at timestamptz not null,
    period integer not null,
    current_period_end timestamptz not null
  )`,
  "create index subscriptions_due on subscriptions (current_period_end) where status <> 'cancelled'",
  // A trigger, because during a deployment the previous version still creates organizations.
  `create function create_subscription() returns trigger language plpgsql as $$
  begin
    insert into subscriptions values (new.id, 'sub_' || substr(new.id, 5), 'growth', 'active', 'monthly', false,
      new.created_at, 0, (new.created_at at time zone 'UTC' + interval '1 month') at time zone 'UTC');
    return null;
  end $$`,
  `create trigger organizations_subscription after insert on organizations
    for each row execute function create_subscription()`,
  // The first period may have ended long ago: a job continues from it.
  `insert into subscriptions
    select id, 'sub_' || substr(id, 5), 'growth', 'active', 'monthly', false,
      created_at, 0, (created_at at time zone 'UTC' + interval '1 month') at time zone 'UTC'
    from organizations`,

  // Amounts are in millionths of the currency's unit.
  `create table chatbot_addons (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    status text not null,
    billing_unit text not null,
    currency text not null,
    cost_per_unit bigint not null check (cost_per_unit >= 0),
    monthly_fee bigint not null check (monthly_fee >= 0),
    trial_units_remaining integer not null check (trial_units_remaining >= 0),
    activated_at timestamptz not null,
    -- The current one, from 0.
    period integer not null,
    -- The first one whose fee is charged; null: the trial lasts.
    first_fee_period integer,
    -- The last one whose fee was charged, or -1.
    fee_charged_through integer not null,
    -- The end of the current period; null: it is cancelled.
    next_billing_date timestamptz,
    grace_ends_at timestamptz,
    ends_at timestamptz,
    primary key (organization_id, id),
    -- The currency can't change any more.
    foreign key (organization_id, currency) references organizations (id, currency)
  )`,
  "create unique index chatbot_addons_current on chatbot_addons (organization_id) where status <> 'cancelled'",
  "create index chatbot_addons_billing on chatbot_addons (next_billing_date) where next_billing_date is not null",
  "create index chatbot_addons_unpaid on chatbot_addons (organization_id) where grace_ends_at is not null",

  // Each answer counts once, and a session once per 24 hours.
  `create table chatbot_units (
    organization_id text collate "C" not null,
    answer_id text collate "C" not null,
    addon_id text collate "C" not null,
    conversation_id text collate "C" not null,
    counted_at timestamptz not null,
    primary key (organization_id, answer_id),
    foreign key (organization_id, addon_id) references chatbot_addons (organization_id, id)
  )`,
  `create index chatbot_units_conversation
    on chatbot_units (organization_id, addon_id, conversation_id, counted_at)`,
  "create index chatbot_units_age on chatbot_units (counted_at)",

  // Applies to every organization with this currency.
  `create table chatbot_minimum_prices (
    currency text collate "C" primary key,
    per_message bigint not null,
    per_session bigint not null
  )`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
