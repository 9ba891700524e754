/** Checks of the database: connection, version, migrations, connections and clock. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/index.ts";
import { openDatabase } from "../../database/connect.ts";
import { damageAdvice, findDamage } from "../../database/embedded/index.ts";
import { readMigrationState } from "../../database/migrate.ts";
import { rowsOf } from "../../database/query/index.ts";
import { countProcesses } from "../../jobs/processes/index.ts";
import { messageOf } from "../commands/command-error.ts";
import type { DataFolder } from "../data-folder/data-folder.ts";
import { silentLog } from "../lazy-log.ts";
import { openSource } from "../manage/backup/source.ts";
import { checkUnloggedErasures } from "./erasures.ts";
import { about, type Finding } from "./finding.ts";
import { checkPages } from "./pages.ts";

const database = about("database");
const pages = about("pages");

export interface DatabaseCheck {
  readonly findings: readonly Finding[];
  /** How many processes of the service use the database now. Always 0 for an embedded one. */
  readonly processes: number;
}

/** @param isDeep whether every page of tables and indexes is read too. */
export async function checkDatabase(
  config: Config,
  folder: DataFolder,
  isDeep: boolean,
): Promise<DatabaseCheck> {
  const check = await checkOpening(config, folder);
  const isUsable = check.findings.every(({ status }) => status !== "problem");
  return isDeep && isUsable && (config.databaseUrl !== undefined || existsSync(join(folder.path, "database")))
    ? { ...check, findings: [...check.findings, ...(await checkAllPages(config))] }
    : check;
}

/** An embedded database that a service has open is copied, and the copy is read. */
async function checkAllPages(config: Config): Promise<readonly Finding[]> {
  try {
    await using source = await openSource(config, { hasPageTools: true });
    return await checkPages(source.database);
  } catch (error) {
    const message = messageOf(error);
    return [pages.problem(message, `If it is the same again, the database is damaged. ${damageAdvice}`)];
  }
}

async function checkOpening(config: Config, folder: DataFolder): Promise<DatabaseCheck> {
  return config.databaseUrl === undefined
    ? { findings: await checkEmbedded(folder), processes: 0 }
    : checkPostgres(config.databaseUrl, { dataDir: folder.path, poolSize: config.databasePoolSize });
}

/**
 * Its files are checked, but the embedded database is not opened: that would stop a service from starting
 * meanwhile.
 */
async function checkEmbedded(folder: DataFolder): Promise<readonly Finding[]> {
  const owner = await folder.owner();
  if (owner) {
    return [database.ok(`Embedded in ${folder.path}, opened by process ${owner.pid}.`)];
  }
  const damage = await findDamage(join(folder.path, "database"));
  if (damage !== undefined) {
    return [database.problem(`The database in ${folder.path} is damaged. ${damage}`, damageAdvice)];
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

async function checkPostgres(
  url: string,
  { dataDir, poolSize }: { readonly dataDir: string; readonly poolSize: number },
): Promise<DatabaseCheck> {
  try {
    await using opened = await openDatabase({ url, dataDir, poolSize: 1, log: silentLog });
    const before = Date.now();
    const { rows } = await rowsOf({
      version: "text",
      max_connections: "integer",
      used: "integer",
      ms: "double precision",
    })`
      select
        current_setting('server_version') as version,
        (current_setting('max_connections')::integer
          - current_setting('superuser_reserved_connections')::integer) as max_connections,
        -- pg_stat_activity has no types of the sessions of other users, unless the role may read all statistics.
        (select sum(numbackends)::integer from pg_stat_database) as used,
        (extract(epoch from clock_timestamp()) * 1000)::double precision as ms
    `.execute(opened.queries);
    const [row] = rows;
    if (row === undefined) {
      return { findings: [database.problem("The database does not answer.", "Restart it.")], processes: 0 };
    }
    const after = Date.now();
    const migrations = await readMigrationState(opened.queries);
    const findings = [
      database.ok(`PostgreSQL ${row.version} answers.`),
      describeMigrations(migrations),
      describeConnections({ ...row, poolSize }),
      describeClock(row.ms - (before + after) / 2, (after - before) / 2),
    ];
    if (migrations.pending.length > 0) {
      // The tables may be missing.
      return { findings, processes: 0 };
    }
    return {
      findings: [...findings, ...(await checkUnloggedErasures(opened.queries))],
      processes: await countProcesses(opened.queries),
    };
  } catch (error) {
    const message = messageOf(error);
    return {
      findings: [database.problem(message, "See docs/operations.md, and check DATABASE_URL.")],
      processes: 0,
    };
  }
}

type KnownMigrations = Pick<Awaited<ReturnType<typeof readMigrationState>>, "pending" | "unknown">;

export function describeMigrations({ pending, unknown }: KnownMigrations): Finding {
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
  poolSize,
}: {
  readonly max_connections: number;
  readonly used: number;
  /** The most connections of one process. */
  readonly poolSize: number;
}): Finding {
  const { ok, warning } = about("connections");
  const message = `${used} of ${max_connections} connections are in use. A process of the service opens up to ${poolSize}.`;
  return max_connections - used < poolSize
    ? warning(
        message,
        "Raise max_connections of the server, lower TIDINGS_DATABASE_POOL, or run fewer processes.",
      )
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
