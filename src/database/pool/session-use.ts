/**
 * How a pool uses the sessions of the server. A pooler such as PgBouncer in transaction mode runs each
 * transaction of a connection in any session that is free.
 */
import pg from "pg";
import type { Log } from "../../ports/telemetry/log.ts";
import { sqlState } from "../outage/index.ts";
import type { Servers } from "./servers.ts";

/** Of a connection, and of each of its statements. */
const timeoutMs = 3_000;

/**
 * Errors of a named statement that show that sessions are shared, and that the pooler does not know of
 * statements: an unknown name (26000), and a name that another connection has given (42P05).
 */
const unknownNames = new Set(["26000", "42P05"]);

export const isUnknownName = (error: unknown) => unknownNames.has(sqlState(error) ?? "");

export interface SessionUse {
  /** Whether the next transaction may run in another session: settings are made for each transaction. */
  isShared: boolean;
  /** Whether statements are prepared under a name, so that they are parsed once for each connection. */
  namesStatements: boolean;
}

/** For a server without a pooler before it. */
export const ownSessions = (): SessionUse => ({ isShared: false, namesStatements: true });

/**
 * Finds out how the sessions of the first server that answers can be used.
 * @throws if no connection can be made.
 */
export async function detectSessionUse(servers: Servers, attempts = servers.count): Promise<SessionUse> {
  const url = servers.current();
  try {
    return await detect(url);
  } catch (error) {
    servers.reject(url);
    if (attempts === 1) {
      throw error;
    }
    return detectSessionUse(servers, attempts - 1);
  }
}

async function detect(url: string): Promise<SessionUse> {
  await using first = await connect(url);
  if (await first.hasOwnSession()) {
    return ownSessions();
  }
  await using second = await connect(url);
  // The pooler lends the session that was used last, in which a name of the first connection is in use.
  for (const { useName } of [first, second]) {
    try {
      await useName();
    } catch (error) {
      if (isUnknownName(error)) {
        return { isShared: true, namesStatements: false };
      }
      throw error;
    }
  }
  return { isShared: true, namesStatements: true };
}

async function connect(connectionString: string) {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // Without a listener, a connection that breaks would end the process.
  client.on("error", () => undefined);
  await client.connect();
  return {
    async hasOwnSession() {
      const { rows } = await client.query("select pg_backend_pid() as pid");
      // What the server, or the pooler in its place, said at the start; the types of pg do not name it.
      return rows[0]?.pid === (client as unknown as { readonly processID: number }).processID;
    },
    useName: () => client.query({ name: "tidings_probe", text: "select $1::integer", values: [1] }),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** Says in the log what differs from a connection without a pooler. */
export function reportSessionUse({ isShared, namesStatements }: SessionUse, log: Log): void {
  if (isShared && namesStatements) {
    log.info(
      { named_statements: true },
      "A pooler is in front of PostgreSQL: settings are made for each transaction",
    );
  } else if (isShared) {
    log.warn(
      { named_statements: false },
      "A pooler is in front of PostgreSQL that does not keep prepared statements: every statement is parsed each time. Set max_prepared_statements (PgBouncer 1.21 or later), or connect directly",
    );
  }
}
