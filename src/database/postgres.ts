/** The settings of a PostgreSQL server, and the error message when it can't be used. */
import { sql } from "kysely";
import type pg from "pg";
import type { Queries } from "./database.ts";

/** For connecting, and for acquiring a connection of the pool. */
const connectionTimeoutMs = 10_000;

/** Earlier versions lack parts of the SQL that the service uses. */
const minMajorVersion = 15;

export function postgresSettings(url: string, poolSize: number): pg.PoolConfig {
  return {
    connectionString: url,
    application_name: "tidings",
    max: poolSize,
    keepAlive: true,
    // A new connection prepares every statement again: keep idle ones for a minute.
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: connectionTimeoutMs,
  };
}

/** The first query: checks the connection and the version of the server. */
export async function requireVersion(queries: Queries): Promise<void> {
  const { rows } = await sql<{ version: number }>`
    select current_setting('server_version_num')::int / 10000 as version
  `.execute(queries);
  const version = rows[0]?.version ?? 0;
  if (version < minMajorVersion) {
    throw new Error(`It is PostgreSQL ${version}: Tidings needs ${minMajorVersion} or later.`);
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

/** For the operator: which server, what is wrong, what to do. Never contains the password. */
export function connectionError(url: string, cause: unknown): Error {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const reason = advice.get(code) ?? (cause instanceof Error ? cause.message : "It does not answer.");
  return new Error(`The database of DATABASE_URL (${host(url)}) can't be used. ${reason}`, { cause });
}

function host(url: string): string {
  const known = URL.canParse(url) ? new URL(url).host : "";
  return known || "no host";
}
