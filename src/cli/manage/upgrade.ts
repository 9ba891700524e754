/** `tidings upgrade`: runs the pending migrations, or shows beforehand what they would do. */
import { readConfig } from "../../config/index.ts";
import { openDatabase } from "../../database/connect.ts";
import type { Database, Queries } from "../../database/database.ts";
import { migrate, readMigrationState } from "../../database/migrate.ts";
import { migrations } from "../../database/migrations/index.ts";
import { rowsOf } from "../../database/query/index.ts";
import { shortenText } from "../../texts/cut.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { print } from "../commands/print.ts";
import { silentLog } from "../lazy-log.ts";
import { locksOf, type StatementLock, statementsOf } from "./statement-locks.ts";

/** The lock of a table, with the size of the table. */
interface SizedLock extends StatementLock {
  /** As the server estimates it; 0 if it never has. */
  readonly rows: number;
  readonly megabytes: number;
}

interface PlannedStatement {
  readonly statement: string;
  readonly locks: readonly SizedLock[];
}

interface PlannedMigration {
  readonly name: string;
  readonly statements: readonly PlannedStatement[];
}

/** @throws Error without DATABASE_URL or `--on`, and if a newer version wrote the database. */
export async function runUpgrade(options: CommandOptions): Promise<void> {
  const { config } = readConfig(undefined, settingsOf(options));
  const { databaseUrl: url, dataDir } = config;
  if (url === undefined) {
    throw new Error(
      "The embedded database is migrated when the service starts. Set DATABASE_URL, or name a database with --on.",
    );
  }
  await using database = await openDatabase({ url, dataDir, poolSize: 2, log: silentLog });
  const { pending, unknown } = await readMigrationState(database.queries);
  if (unknown[0] !== undefined) {
    throw new Error(
      `A newer version of Tidings wrote this database: it has the migration ${unknown[0]}. Use the newer version.`,
    );
  }
  await (options.check ? check(database.queries, { pending, options }) : run(database, options));
}

async function check(
  queries: Queries,
  { pending, options }: { readonly pending: readonly string[]; readonly options: CommandOptions },
): Promise<void> {
  const planned: PlannedMigration[] = [];
  for (const name of pending) {
    const migration = migrations[name];
    planned.push({
      name,
      statements: await Promise.all(
        (migration ? await statementsOf(migration) : []).map(async (statement) => ({
          statement,
          locks: (await Promise.all(locksOf(statement).map((lock) => withSize(queries, lock)))).flat(),
        })),
      ),
    });
  }
  print(options.json, planned, () =>
    planned.length === 0
      ? ["All migrations have run."]
      : [
          ...planned.flatMap(describeMigration),
          "",
          "Each migration is a transaction, and holds its locks to its end. If a lock is not free within 300 ms, it is rolled back and tried again.",
          "For real times run tidings upgrade --on with the address of a restored copy.",
        ],
  );
}

/** The lock of a table that is there, with the table's name and size. */
async function withSize(queries: Queries, lock: StatementLock): Promise<readonly SizedLock[]> {
  const { rows } = await rowsOf({ table: "text", rows: "integer", megabytes: "double precision" })`
    select
      relname::text as table,
      greatest(reltuples, 0)::integer as rows,
      pg_total_relation_size(oid) / 1e6::double precision as megabytes
    from pg_class
    where oid = coalesce(
      (select indrelid from pg_index where indexrelid = to_regclass(${lock.table})),
      to_regclass(${lock.table})
    )
  `.execute(queries);
  return rows.map((size) => ({ ...lock, ...size }));
}

function describeMigration({ name, statements }: PlannedMigration): string[] {
  return [name, ...statements.flatMap(describeStatement)];
}

const longestStatement = 100;

function describeStatement({ statement, locks }: PlannedStatement): string[] {
  const shown = shortenText(statement, longestStatement);
  const described = locks.map(
    ({ table, mode, blocks, rows, megabytes }) =>
      `    ${mode} on ${table}, which blocks ${blocks}: about ${rows} rows, ${megabytes.toFixed(1)} MB`,
  );
  return [`  ${shown}`, ...described];
}

async function run(database: Database, options: CommandOptions): Promise<void> {
  const done = await migrate(database);
  print(options.json, done, () =>
    done.length === 0
      ? ["All migrations have run."]
      : done.map(({ name, ms }) => `${name}  ${(ms / 1000).toFixed(2)} s`),
  );
}
