/** Checks of the database: connection, version, migrations, connections and clock. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/index.ts";
import { openDatabase } from "../../database/connect.ts";
import { readMigrationState } from "../../database/migrate.ts";
import { defaultPoolSize } from "../../database/postgres.ts";
import { rowsOf } from "../../database/query/index.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import type { DataFolder } from "../data-folder/data-folder.ts";
import { about, type Finding } from "./finding.ts";

const database = about("database");
const silent = () => undefined;
const log: Log = { debug: silent, info: silent, warn: silent, error: silent };

export function checkDatabase(config: Config, folder: DataFolder): Promise<readonly Finding[]> {
  return config.databaseUrl === undefined
    ? checkEmbedded(folder)
    : checkPostgres(config.databaseUrl, folder.path);
}

/** The embedded database is not opened: that would stop a service from starting meanwhile. */
async function checkEmbedded(folder: DataFolder): Promise<readonly Finding[]> {
  const owner = await folder.owner();
  if (owner) {
    return [database.ok(`Embedded in ${folder.path}, opened by process ${owner.pid}.`)];
  }
  return existsSync(join(folder.path, "database"))
    ? [database.ok(`Embedded in ${folder.path}, not open.`)]
    : [
        database.warning(
          `No service was started in ${folder.path} yet.`,
          "Run tidings serve, or set TIDINGS_DATA_DIR.",
        ),
      ];
}

async function checkPostgres(url: string, dataDir: string): Promise<readonly Finding[]> {
  try {
    await using opened = await openDatabase({ url, dataDir, poolSize: 1, log });
    const before = Date.now();
    const { rows } = await rowsOf({
      version: "text",
      max_connections: "integer",
      used: "integer",
      ms: "double precision",
    })`
      select
        current_setting('server_version') as version,
        current_setting('max_connections')::integer as max_connections,
        (select count(*)::integer from pg_stat_activity where backend_type = 'client backend') as used,
        (extract(epoch from clock_timestamp()) * 1000)::double precision as ms
    `.execute(opened.queries);
    const [row] = rows;
    if (row === undefined) {
      return [database.problem("The database does not answer.", "Restart it.")];
    }
    const after = Date.now();
    return [
      database.ok(`PostgreSQL ${row.version} answers.`),
      describeMigrations(await readMigrationState(opened)),
      describeConnections(row),
      describeClock(row.ms - (before + after) / 2, (after - before) / 2),
    ];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [database.problem(message, "See docs/operations.md, and check DATABASE_URL.")];
  }
}

type MigrationState = Awaited<ReturnType<typeof readMigrationState>>;

export function describeMigrations({ pending, unknown }: MigrationState): Finding {
  const { ok, warning, problem } = about("migrations");
  if (unknown.length > 0) {
    return problem(
      `A newer version wrote this database: it has the migration ${unknown[0]}.`,
      "Use the newer version, or another database.",
    );
  }
  return pending.length > 0
    ? warning(`${pending.length} migrations are pending.`, "The next start of the service runs them.")
    : ok("All migrations have run.");
}

export function describeConnections({
  max_connections,
  used,
}: {
  max_connections: number;
  used: number;
}): Finding {
  const { ok, warning } = about("connections");
  const message = `${used} of ${max_connections} connections are in use. A process of the service opens up to ${defaultPoolSize}.`;
  return max_connections - used < defaultPoolSize
    ? warning(message, "Raise max_connections of the server, or run fewer processes.")
    : ok(message);
}

/** A difference that people notice in the times that they are shown. */
const noticeableMs = 2_000;

/** @param errorMs how exact the difference is. */
export function describeClock(differenceMs: number, errorMs: number): Finding {
  const { ok, warning } = about("clock");
  const seconds = (Math.abs(differenceMs) / 1000).toFixed(1);
  return Math.abs(differenceMs) - errorMs < noticeableMs
    ? ok("The clocks of this machine and of the database agree.")
    : warning(
        `This machine's clock is ${seconds} s ${differenceMs > 0 ? "behind" : "ahead of"} the database's, which the service follows.`,
        "Synchronize both clocks, for example with NTP.",
      );
}
