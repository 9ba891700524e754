/**
 * A `pg` pool as the query layer sees it: every statement with values has a name.
 *
 * Parsing and planning cost more than running, on both engines: a named statement is planned once for
 * each connection. Connections are taken and given back one by one, never through `pool.query`, which
 * throws a connection away with every failed query.
 */
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";
import type { PoolUse } from "../ports/telemetry.ts";

/** Where the pool says what happened to a connection that nobody was using. */
export interface DatabaseLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Names that one connection keeps; each holds a plan in the engine's memory. The house has a few hundred. */
const maxNames = 1000;

const closeMs = 5_000;

/**
 * After these the connection's names can't be trusted: a plan older than a migration (0A000), a name that
 * the engine has lost (26000) or that it has kept from another connection (42P05).
 */
const spoilt = new Set(["0A000", "26000", "42P05"]);

/** The pool for Kysely's dialect, which also tells how busy it is. */
export function createPool(settings: pg.PoolConfig, log: DatabaseLog): PostgresPool & { use(): PoolUse } {
  const pool = new pg.Pool({ ...settings, types, onConnect: (client) => prepare(client, settings) });
  const connections = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  // Without a listener, a connection that breaks while idle, or between two statements, ends the process.
  pool.on("error", (error) => log.warn({ error: error.message }, "A database connection was lost"));
  pool.on("connect", (client) => client.on("error", () => undefined));

  return {
    use: () => ({ inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
    async connect() {
      const client = await pool.connect().catch((cause: unknown) => {
        throw explain(cause, settings.connectionTimeoutMillis);
      });
      const connection = connections.get(client) ?? wrap(client);
      connections.set(client, connection);
      return connection;
    },
    // It waits until every connection is released; one that hangs must not keep the process from exiting.
    end: () => Promise.race([pool.end(), sleep(closeMs, undefined, { ref: false })]),
  };
}

/**
 * PostgreSQL replaces a named statement's plan by a generic one after five executions and keeps it until the
 * next ANALYZE. A generic plan made while a table was empty reads the whole table once it is full, so every
 * execution is planned for its own values and the table's present size.
 */
async function prepare(client: pg.ClientBase, { onConnect }: pg.PoolConfig): Promise<void> {
  await onConnect?.(client);
  await client.query("set plan_cache_mode = force_custom_plan");
}

/** int8 as a number (counts and sums stay below 2^53), timestamptz as ISO 8601 in UTC; for this pool alone. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString());

function wrap(client: pg.PoolClient): PostgresPoolClient {
  const names = new Set<string>();
  let isSpoilt = false;

  const connection = {
    async query(text: string, values: readonly unknown[]): Promise<unknown> {
      try {
        const result = await client.query(name(text, values, names));
        // A commit after a swallowed failure is answered with ROLLBACK, and with no error.
        if (text === "commit" && result.command === "ROLLBACK") {
          throw new Error("The transaction was rolled back: a statement in it had failed.");
        }
        return result;
      } catch (error) {
        isSpoilt ||= spoilt.has(sqlState(error) ?? "");
        // The connection is gone, and the transaction with it: the first failure is the one to tell.
        if (text === "rollback" && sqlState(error) === undefined) {
          return { command: "ROLLBACK", rowCount: 0, rows: [] };
        }
        throw error;
      }
    },
    release: () => client.release(isSpoilt),
  };
  return connection as PostgresPoolClient; // but for cursors, which only streamed queries use: the house has none
}

function name(text: string, values: readonly unknown[], names: Set<string>): pg.QueryConfig {
  const query = { text, values: [...values] };
  if (values.length === 0) {
    return query;
  }
  const id = `q${hash("sha1", text).slice(0, 16)}`;
  if (names.size >= maxNames && !names.has(id)) {
    return query;
  }
  names.add(id);
  return { ...query, name: id };
}

/** The engine's code of a failure, such as `23505`; undefined when the failure is not the engine's. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

function explain(cause: unknown, timeoutMs: number | undefined): unknown {
  if (!(cause instanceof Error) || cause.message !== "timeout exceeded when trying to connect") {
    return cause;
  }
  return new Error(
    `No database connection became free in ${timeoutMs} ms. Inside a transaction, query through its \`tx\` alone.`,
    { cause },
  );
}
