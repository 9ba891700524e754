/**
 * Runs the migrations. Safe when several instances start at once: one instance runs the migrations and the
 * other instances wait.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, type Migration, Migrator, sql } from "kysely";
import type { Database } from "./database.ts";
import { migrations } from "./migrations/index.ts";
import { sqlState, withoutStatementLimit } from "./outage.ts";
import { nullable, rowsOf } from "./query/index.ts";

/**
 * Shorter than the time after which PostgreSQL looks for deadlocks, so that a migration gives way to
 * requests, and requests never give way to a migration.
 */
const lockTimeoutMs = 300;
/** Lock timeout, deadlock. */
const retryable = new Set(["55P03", "40P01"]);
const maxAttempts = 100;
const retryMs = { min: 200, max: 1_000 };

/** A migration, and how long its statements took. */
export interface RunMigration {
  readonly name: string;
  readonly ms: number;
}

/**
 * Runs all pending migrations in one transaction. Processes of the previous version may be writing to the
 * tables: if a lock is not free, the transaction is rolled back and tried again later.
 * @returns the migrations that this process ran, in their order.
 */
export function migrate(
  database: Database,
  known: Readonly<Record<string, Migration>> = migrations,
): Promise<readonly RunMigration[]> {
  return withoutStatementLimit(() => runMigrations(database, known));
}

async function runMigrations(
  database: Database,
  known: Readonly<Record<string, Migration>>,
): Promise<readonly RunMigration[]> {
  const durations = new Map<string, number>();
  const limited = Object.entries(known).map(([name, migration]) => [
    name,
    measure(limitLockTime(migration), (ms) => durations.set(name, ms)),
  ]);
  const migrator = new Migrator({
    db: database.queries,
    provider: { getMigrations: async () => Object.fromEntries(limited) },
  });
  for (let number = 1; ; number += 1) {
    const { error, results } = await migrator.migrateToLatest();
    if (error === undefined) {
      return (results ?? []).map(({ migrationName: name }) => ({ name, ms: durations.get(name) ?? 0 }));
    }
    await requireKnown(database, known);
    if (number === maxAttempts || !retryable.has(sqlState(error) ?? "")) {
      const failed = results?.find((result) => result.status === "Error");
      const what = failed ? `Migration ${failed.migrationName} failed` : "The database can't be migrated";
      throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    await sleep(retryMs.min + Math.random() * (retryMs.max - retryMs.min));
  }
}

/**
 * @throws Error if a newer version has migrated the database. Kysely would report such migrations as
 *   corrupted.
 */
async function requireKnown(database: Database, known: Readonly<Record<string, Migration>>): Promise<void> {
  const [unknown] = (await readMigrationState(database, known)).unknown;
  if (unknown !== undefined) {
    throw new Error(
      `A newer version of Tidings wrote this database: it has the migration ${unknown}, which this version does not know. Start the newer version, or set another database or data folder.`,
    );
  }
}

/** The migrations that have not run, and those of a newer version that have. */
export async function readMigrationState(
  database: Database,
  known: Readonly<Record<string, Migration>> = migrations,
): Promise<{ readonly pending: readonly string[]; readonly unknown: readonly string[] }> {
  const { rows: tables } = await rowsOf({ name: nullable("text") })`
    select to_regclass('kysely_migration')::text as name
  `.execute(database.queries);
  if (!tables[0]?.name) {
    return { pending: Object.keys(known), unknown: [] };
  }
  const { rows } = await rowsOf({ name: "text" })`
    select name::text as name from kysely_migration order by name
  `.execute(database.queries);
  const applied = new Set(rows.map(({ name }) => name));
  return {
    pending: Object.keys(known).filter((name) => !applied.has(name)),
    unknown: [...applied].filter((name) => !(name in known)),
  };
}

function limitLockTime({ up }: Migration): Migration {
  return {
    async up(database: Kysely<unknown>) {
      await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(database);
      await up(database);
    },
  };
}

/** A repeated attempt replaces the duration of the attempt before. */
function measure({ up }: Migration, report: (ms: number) => void): Migration {
  return {
    async up(database: Kysely<unknown>) {
      const begin = performance.now();
      await up(database);
      report(Math.round(performance.now() - begin));
    },
  };
}
