/** The operator's rate tables: the prices of messages by currency, country and category. */
import { type Kysely, sql } from "kysely";

const statements = [
  // A currency without a row here uses the bundled table, if there is one.
  `create table message_rate_tables (
    currency text not null primary key,
    effective_from timestamptz not null
  )`,
  // Read for each message, by whole keys.
  `create table message_rates (
    currency text not null references message_rate_tables (currency) on delete cascade,
    -- ISO 3166, or 'other'.
    country text not null,
    -- In millionths of the currency.
    marketing bigint not null,
    utility bigint not null,
    authentication bigint not null,
    service bigint not null,
    primary key (currency, country)
  )`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
