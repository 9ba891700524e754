/** The settings of a PostgreSQL server, and the error message when it can't be used. */
import type pg from "pg";
import type { Log } from "../ports/telemetry/log.ts";
import type { Queries } from "./database.ts";
import type { Servers, SessionUse } from "./pool/index.ts";
import { rowsOf } from "./query/index.ts";

/** The limit for connecting, and for acquiring a connection of the pool. */
const connectionTimeoutMs = 10_000;
/** Of several servers, one that does not answer must not delay the connection to the next. */
const oneOfSeveralTimeoutMs = 3_000;
/** Finds out that the machine of an idle connection is gone. */
const keepAliveMs = 10_000;

/** The most connections of a process. */
export const defaultPoolSize = 10;

/** Earlier versions do not support all the SQL that the service uses. */
const minMajorVersion = 15;

export function postgresSettings(
  servers: Pick<Servers, "count" | "current">,
  poolSize: number,
): pg.PoolConfig {
  return {
    connectionString: servers.current(),
    application_name: "tidings",
    max: poolSize,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    // Idle connections are kept for a minute, because a new connection prepares every statement again.
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: servers.count > 1 ? oneOfSeveralTimeoutMs : connectionTimeoutMs,
  };
}

/** The first query: checks the connection, the version of the server, and the size of the pool. */
export async function requireServer(
  queries: Queries,
  {
    poolSize,
    sessions,
    log,
  }: { readonly poolSize: number; readonly sessions: SessionUse; readonly log: Log },
): Promise<void> {
  const { rows } = await rowsOf({ version: "integer", connections: "integer" })`
    select
      current_setting('server_version_num')::int / 10000 as version,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections
  `.execute(queries);
  const [{ version, connections } = { version: 0, connections: 0 }] = rows;
  if (version < minMajorVersion) {
    throw new Error(`It is PostgreSQL ${version}, but Tidings needs ${minMajorVersion} or later.`);
  }
  // Behind a pooler, connections of the pool are not connections of the server.
  if (!sessions.isShared && poolSize > connections) {
    log.warn(
      { pool_size: poolSize, connections },
      `The server permits ${connections} connections, fewer than this process may open: lower TIDINGS_DATABASE_POOL, or raise max_connections`,
    );
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
  // Not by URL, which rejects several hosts.
  const [, host] = /^[^:]+:\/\/(?:[^/?]*@)?([^/?]*)/.exec(url) ?? [];
  return host || "no host";
}
