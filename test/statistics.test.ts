/** The statistics of tables that have grown. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Queries } from "../src/database/database.ts";
import { analyzeGrown } from "../src/database/statistics.ts";
import { startTestApp } from "./support/app.ts";
import { createTestDatabase } from "./support/database.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { connectTo } from "./support/postgres.ts";

test("a table is analyzed when it has grown tenfold, and not before", { tags: "both" }, async () => {
  // A database of its own: what other tests have removed would still count as the size of the table.
  await using database = await createTestDatabase();
  await using app = await startTestApp({ database });
  const { id } = await createOrganizationFor(app, "Large");
  // After its first ANALYZE the transaction holds a lock on the table that the database's upkeep waits for.
  await app.server.database.transaction(async (tx) => {
    await sql`analyze contacts`.execute(tx);
    const before = await expectedRows(tx);
    await addContacts(tx, { id, from: 1, to: 10 });
    await analyzeGrown(tx);
    expect(await expectedRows(tx)).toBe(before);
    await addContacts(tx, { id, from: 11, to: 3_000 });
    await analyzeGrown(tx);
    expect(await expectedRows(tx)).toBe(3_000);
    await addContacts(tx, { id, from: 3_001, to: 6_000 });
    await analyzeGrown(tx);
    expect(await expectedRows(tx)).toBe(3_000);
  });
});

// The embedded engine has one connection, so nothing is analyzed during a transaction.
test("a table that was analyzed while it was being filled is analyzed again", {
  tags: "postgres",
}, async () => {
  await using database = await createTestDatabase();
  await using app = await startTestApp({ database });
  await using other = await connectTo(database.env.DATABASE_URL ?? "");
  const { id } = await createOrganizationFor(app, "Large");
  const { queries } = app.server.database;
  await app.server.database.transaction(async (tx) => {
    await addContacts(tx, { id, from: 1, to: 3_000 });
    await other.query("analyze contacts");
    expect(await expectedRows(tx)).toBeLessThan(100);
    await sql`select pg_stat_force_next_flush()`.execute(tx);
  });
  await analyzeGrown(queries);
  expect(await expectedRows(queries)).toBeGreaterThanOrEqual(3_000);
});

interface NewContacts {
  /** The organization's. */
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

async function addContacts(queries: Queries, { id, from, to }: NewContacts): Promise<void> {
  await sql`
    insert into contacts (organization_id, id, metadata, search_text, created_at, updated_at)
    select ${id}, 'con_' || number, '{}', 'name', now(), now()
    from generate_series(${from}::int, ${to}::int) as number
  `.execute(queries);
}

async function expectedRows(queries: Queries): Promise<number | undefined> {
  const { rows } = await sql<{ reltuples: number }>`
    select reltuples from pg_class where relname = 'contacts'
  `.execute(queries);
  return rows[0]?.reltuples;
}
