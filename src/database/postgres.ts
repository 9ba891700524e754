/** The settings of a PostgreSQL server, and the error message when it can't be used. */
import type pg from "pg";
import type { Queries } from "./database.ts";
import { rowsOf } from "./query/index.ts";

/** The limit for connecting, and for acquiring a connection of the pool. */
const connectionTimeoutMs = 10_000;

/** The most connections of a process. */
export const defaultPoolSize = 10;

/** Earlier versions do not support all the SQL that the service uses. */
const minMajorVersion = 15;

export function postgresSettings(url: string, poolSize: number): pg.PoolConfig {
  return {
    connectionString: url,
    application_name: "tidings",
    max: poolSize,
    keepAlive: true,
    // Idle connections are kept for a minute, because a new connection prepares every statement again.
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: connectionTimeoutMs,
  };
}

/** The first query: checks the connection and the version of the server. */
export async function requireVersion(queries: Queries): Promise<void> {
  const { rows } = await rowsOf({ version: "integer" })`
    select current_setting('server_version_num')::int / 10000 as version
  `.execute(queries);
  const version = rows[0]?.version ?? 0;
  if (version < minMajorVersion) {
    throw new Error(`It is PostgreSQL ${version}, but Tidings needs ${minMajorVersion} or later.`);
  }
}

const advice = new Map([
  ["ECONNREFUSED", "The connection was refused: start PostgreSQL, or correct the host and the port."],
  ["ENOENT", "Its socket does not exist: start PostgreSQL, or correct the host."],
  ["ENOTFOUND", "The host does not exist: correct it."],
  ["EAI_AGAIN", "The host name can't be resolved at the moment: check the network and try again."],
  ["28P01", "The password is wrong: correct the user and the password."],
  ["28000", "The user is not allowed to connect: correct it, or allow it in the server's pg_hba.conf."],
  ["3D000", "The database does not exist: create it with createdb, or correct the name."],
  ["53300", "The server has no free connection: close some, or raise its max_connections."],
  [
    "ERR_INVALID_URL",
    "It is not a URL: write postgres://user:password@host:5432/database, special characters as %40.",
  ],
]);

/**
 * The error message for the operator: the server, the problem, and the solution. Never contains the password.
 */
export function connectionError(url: string, cause: unknown): Error {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const reason = advice.get(code) ?? (cause instanceof Error ? cause.message : "The server does not answer.");
  return new Error(`The database of DATABASE_URL (${hostOf(url)}) can't be used. ${reason}`, { cause });
}

function hostOf(url: string): string {
  const host = URL.canParse(url) ? new URL(url).host : "";
  return host || "no host";
}
