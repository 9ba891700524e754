/** Runs the migrations. Safe when several instances start at once: one runs them, the others wait. */
import { type Migration, Migrator } from "kysely";
import type { Database } from "./database.ts";
import { migrations } from "./migrations/index.ts";

/** Runs all pending migrations in one transaction. */
export async function migrate(
  database: Database,
  known: Readonly<Record<string, Migration>> = migrations,
): Promise<void> {
  const migrator = new Migrator({
    db: database.queries,
    provider: { getMigrations: async () => ({ ...known }) },
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) {
    return;
  }
  const failed = results?.find((result) => result.status === "Error");
  const what = failed ? `Migration ${failed.migrationName} failed` : "The database can't be migrated";
  throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
