/**
 * Runs the migrations. Safe when several instances start at once: one instance runs the migrations and the
 * other instances wait.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Migration, sql } from "kysely";
import type { Database, DatabaseTransaction, Queries } from "./database.ts";
import { migrations } from "./migrations/index.ts";
import { sqlState, withoutStatementLimit } from "./outage/index.ts";
import { nullable, rowsOf } from "./query/index.ts";

type Migrations = Readonly<Record<string, Migration>>;

/**
 * Shorter than the time after which PostgreSQL looks for deadlocks, so that a migration gives way to
 * requests, and requests never give way to a migration.
 */
const lockTimeoutMs = 300;
/** Lock timeout, deadlock. */
const retryable = new Set(["55P03", "40P01"]);
const maxAttempts = 100;
const retryMs = { min: 200, max: 1_000 };

/**
 * Kysely's Migrator holds a lock of the session, which behind a pooler stays in a session that nobody can
 * reach. Versions that used the Migrator hold the lock with this number, so they and this version wait for
 * each other.
 */
const lockId = 3_853_314_791_062_309_107n;

/** A migration, and how long its statements took. */
export interface RunMigration {
  readonly name: string;
  readonly ms: number;
}

/**
 * Runs all pending migrations, each in a transaction of its own: requests lock the same tables in another
 * order, so one transaction with the locks of all migrations would give way to them again and again. The
 * migrations of a new database, which nobody uses yet, run in one transaction.
 *
 * Processes of the previous version may be writing to the tables: if a lock is not free, the migration is
 * rolled back and tried again later.
 * @returns the migrations that this process ran, in their order.
 */
export function migrate(
  database: Database,
  known: Migrations = migrations,
): Promise<readonly RunMigration[]> {
  return withoutStatementLimit(() => runMigrations(database, known));
}

async function runMigrations(database: Database, known: Migrations): Promise<readonly RunMigration[]> {
  const all: RunMigration[] = [];
  for (;;) {
    const run = await runUntilLocksAreFree(database, known);
    if (run.length === 0) {
      return all;
    }
    all.push(...run);
  }
}

async function runUntilLocksAreFree(database: Database, known: Migrations): Promise<readonly RunMigration[]> {
  for (let number = 1; ; number += 1) {
    try {
      return await database.transaction((tx) => runNext(tx, known));
    } catch (error) {
      const cause = error instanceof MigrationError ? error.cause : error;
      if (number === maxAttempts || !retryable.has(sqlState(cause) ?? "")) {
        throw error;
      }
    }
    await sleep(retryMs.min + Math.random() * (retryMs.max - retryMs.min));
  }
}

class MigrationError extends Error {
  override readonly name = "MigrationError";

  constructor(migration: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Migration ${migration} failed: ${reason}`, { cause });
  }
}

/** Runs the next migration, or all of a new database. Returns none if none is pending. */
async function runNext(tx: DatabaseTransaction, known: Migrations): Promise<readonly RunMigration[]> {
  await sql`select pg_advisory_xact_lock(${sql.lit(lockId)})`.execute(tx);
  await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(tx);
  await sql`
    create table if not exists kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)
  `.execute(tx);
  const { pending, unknown } = await readMigrationState(tx, known);
  requireKnown(unknown);
  const isNew = pending.length === Object.keys(known).length;
  const run: RunMigration[] = [];
  for (const name of isNew ? pending : pending.slice(0, 1)) {
    const begin = performance.now();
    await known[name]?.up(tx).catch((error: unknown) => {
      throw new MigrationError(name, error);
    });
    await sql`insert into kysely_migration (name, timestamp) values (${name}, to_json(now()) #>> '{}')`.execute(
      tx,
    );
    run.push({ name, ms: Math.round(performance.now() - begin) });
  }
  return run;
}

/** @throws Error if a newer version has migrated the database. */
function requireKnown([unknown]: readonly string[]): void {
  if (unknown !== undefined) {
    throw new Error(
      `A newer version of Tidings wrote this database: it has the migration ${unknown}, which this version does not know. Start the newer version, or set another database or data folder.`,
    );
  }
}

interface MigrationState {
  /** The migrations that have not run. */
  readonly pending: readonly string[];
  /** The migrations of a newer version that have run. */
  readonly unknown: readonly string[];
  /** Whether the first one has run, which creates the tables. */
  readonly hasTables: boolean;
}

export async function readMigrationState(
  queries: Queries,
  known: Migrations = migrations,
): Promise<MigrationState> {
  const { rows: tables } = await rowsOf({ name: nullable("text") })`
    select to_regclass('kysely_migration')::text as name
  `.execute(queries);
  if (!tables[0]?.name) {
    return { pending: Object.keys(known), unknown: [], hasTables: false };
  }
  const { rows } = await rowsOf({ name: "text" })`
    select name::text as name from kysely_migration order by name
  `.execute(queries);
  const applied = new Set(rows.map(({ name }) => name));
  return {
    pending: Object.keys(known).filter((name) => !applied.has(name)),
    unknown: [...applied].filter((name) => !(name in known)),
    hasTables: applied.has("0001-foundation"),
  };
}
