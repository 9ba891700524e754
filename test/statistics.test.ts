/** The statistics of tables that have grown. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { analyzeGrown } from "../src/database/statistics.ts";
import { startTestApp } from "./support/app.ts";
import { createTestDatabase } from "./support/database.ts";
import { createOrganizationFor } from "./support/operator.ts";

test("a table is analyzed when it has grown tenfold, and not before", { tags: "both" }, async () => {
  // A database of its own: what other tests have removed would still count as the size of the table.
  await using database = await createTestDatabase();
  await using app = await startTestApp({ database });
  const { id } = await createOrganizationFor(app, "Large");
  // After its first ANALYZE the transaction holds a lock on the table that the database's upkeep waits for.
  await app.server.database.transaction(async (tx) => {
    const add = async (from: number, to: number) => {
      await sql`
        insert into contacts (organization_id, id, metadata, search_text, created_at, updated_at)
        select ${id}, 'con_' || number, '{}', 'name', now(), now()
        from generate_series(${from}::int, ${to}::int) as number
      `.execute(tx);
    };
    const expectedRows = async () => {
      const { rows } = await sql<{ reltuples: number }>`
        select reltuples from pg_class where relname = 'contacts'
      `.execute(tx);
      return rows[0]?.reltuples;
    };
    await sql`analyze contacts`.execute(tx);
    const before = await expectedRows();
    await add(1, 10);
    await analyzeGrown(tx);
    expect(await expectedRows()).toBe(before);
    await add(11, 3_000);
    await analyzeGrown(tx);
    expect(await expectedRows()).toBe(3_000);
    await add(3_001, 6_000);
    await analyzeGrown(tx);
    expect(await expectedRows()).toBe(3_000);
  });
});
