/** How a PostgreSQL server is reached, and what is said when it can't be. */
import { sql } from "kysely";
import type pg from "pg";
import type { Queries } from "./database.ts";

/** Connecting, and waiting for one of the pool's connections, each at most this long. */
const waitMs = 10_000;

/** Below it, parts of the SQL that the house uses are missing. */
const oldestMajor = 15;

export function postgresSettings(url: string, poolSize: number): pg.PoolConfig {
  return {
    connectionString: url,
    application_name: "tidings",
    max: poolSize,
    keepAlive: true,
    // A new connection plans every statement anew: let the old ones live through a quiet minute.
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: waitMs,
  };
}

/** The first query: proves that the server answers and is not too old. */
export async function requireVersion(queries: Queries): Promise<void> {
  const { rows } = await sql<{ version: number }>`
    select current_setting('server_version_num')::int / 10000 as version
  `.execute(queries);
  const version = rows[0]?.version ?? 0;
  if (version < oldestMajor) {
    throw new Error(`It is PostgreSQL ${version}: Tidings needs ${oldestMajor} or later.`);
  }
}

const advice = new Map([
  ["ECONNREFUSED", "Nothing listens there: start PostgreSQL, or correct the host and the port."],
  ["ENOENT", "Its socket is not there: start PostgreSQL, or correct the host."],
  ["ENOTFOUND", "There is no such host: correct it."],
  ["EAI_AGAIN", "The host's name can't be looked up just now: check the network and try again."],
  ["28P01", "It refuses the password: correct the user and the password."],
  ["28000", "It refuses the user: correct it, or allow it in the server's pg_hba.conf."],
  ["3D000", "It has no such database: create it with createdb, or correct the name."],
  ["53300", "It has no connection left: close some, or raise its max_connections."],
  [
    "ERR_INVALID_URL",
    "It is not a URL: write postgres://user:password@host:5432/database, special characters as %40.",
  ],
]);

/** One sentence for the operator: which server, what is wrong, what to do. The password is in none of it. */
export function refused(url: string, cause: unknown): Error {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const reason = advice.get(code) ?? (cause instanceof Error ? cause.message : "It does not answer.");
  return new Error(`The database of DATABASE_URL (${host(url)}) can't be used. ${reason}`, { cause });
}

function host(url: string): string {
  const known = URL.canParse(url) ? new URL(url).host : "";
  return known || "no host named";
}
