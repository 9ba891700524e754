/**
 * The `pg` pool for Kysely. Every statement with values is prepared with a name.
 *
 * A named statement is parsed once for each connection. Connections are acquired and released one by one,
 * never through `pool.query`, which closes the connection after every failed query.
 */
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";
import type { Log } from "../../ports/telemetry/log.ts";
import type { PoolUsage } from "../../ports/telemetry/telemetry.ts";
import { NoAnswerError, NoConnectionError, sqlState, statementLimitMs } from "../outage.ts";
import { FairQueue } from "../sharing/index.ts";
import { createAnswerTimer } from "./answer-timer.ts";
import { recordResultFields } from "./result-fields.ts";

export { type ResultField, resultFieldsOf } from "./result-fields.ts";

/**
 * The limit of prepared statements per connection, because each takes memory of the engine. The service has a
 * few hundred.
 */
const maxNames = 1000;

const closeTimeoutMs = 5_000;

/**
 * After this time the server ends the transaction of a frozen process, because other processes wait for its
 * locks.
 */
const maxIdleMs = 15_000;

const defaultTimeoutMs = 10_000;

/**
 * After these errors the prepared statements of a connection are invalid, and the connection is closed: an
 * unknown name (26000), and a name left by another connection (42P05).
 */
const invalidating = new Set(["26000", "42P05"]);

/**
 * A migration has changed the columns of a prepared statement. The other connections have such statements
 * too.
 */
const stale = "0A000";

/** Part of every statement's name. A new generation prepares every statement again, on each connection. */
interface Generation {
  number: number;
}

/** What the connections of a pool have sent, apart from statements that set up a connection. */
interface Counts {
  statements: number;
  /** How often a statement was sent while the connection had no other statement in progress. */
  waits: number;
}

interface Connection {
  readonly client: PostgresPoolClient;
  /** The queue's place that the connection holds while it is in use. */
  readonly place: { release(): void };
}

interface PoolOptions {
  readonly log: Log;
  /** Whether the engine can cancel a statement at a time limit of its session. */
  readonly canCancel: boolean;
}

/** The pool for Kysely's dialect, with its usage for the metrics. */
export function createPool(
  settings: pg.PoolConfig,
  { log, canCancel }: PoolOptions,
): PostgresPool & { use(): PoolUsage } {
  const pool = new pg.Pool({
    ...settings,
    pipeline: true,
    types,
    onConnect: (client) => prepare(client, settings),
  });
  const queue = new FairQueue({
    size: settings.max ?? 1,
    timeoutMs: settings.connectionTimeoutMillis ?? defaultTimeoutMs,
    place: "database connection (inside a transaction, use only its `tx` for queries)",
  });
  const connections = new WeakMap<pg.PoolClient, Connection>();
  const generation: Generation = { number: 0 };
  const counts: Counts = { statements: 0, waits: 0 };

  // Without listeners, a connection that breaks while idle, or between two statements, would end the process.
  pool.on("error", (error) => log.warn({ error: error.message }, "A database connection was lost"));
  pool.on("connect", (client) => client.on("error", () => undefined));

  return {
    use: () => ({ ...counts, inUse: pool.totalCount - pool.idleCount, waiting: queue.waiting }),
    async connect() {
      const release = await queue.acquire();
      const client = await pool.connect().catch((error: unknown) => {
        release();
        throw new NoConnectionError(error);
      });
      const connection = connections.get(client) ?? wrap(client, { generation, counts, canCancel });
      connections.set(client, connection);
      connection.place.release = release;
      return connection.client;
    },
    // Ending the pool waits until every connection is released. A connection that hangs must not prevent the
    // process from exiting.
    end: () => Promise.race([pool.end(), sleep(closeTimeoutMs, undefined, { ref: false })]),
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

/**
 * Reads int8 as a number (counts and sums stay below 2^53), and timestamptz, also in lists, as ISO 8601 in
 * UTC. Only for this pool.
 */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString());
const timeList = 1185;
// pg reads a list of times as a list of Dates; the types of pg declare a parser whose argument is a number.
const readTimes = types.getTypeParser(timeList) as unknown as (text: string) => (Date | null)[];
types.setTypeParser(timeList, (text) => readTimes(text).map((time) => time?.toISOString() ?? null));

const rolledBack = { command: "ROLLBACK", rowCount: 0, rows: [] };

interface SharedState {
  readonly generation: Generation;
  readonly counts: Counts;
  readonly canCancel: boolean;
}

function wrap(client: pg.PoolClient, { generation, counts, canCancel }: SharedState): Connection {
  const send = createSender(client, counts, canCancel);
  const names = new Set<string>();
  const place = { release() {} };
  let isInvalid = false;
  let isInTransaction = false;
  /** The limit of the session. Undefined at first, and if a rollback may have undone its last change. */
  let limitMs: number | undefined;
  /**
   * Whether the embedded engine has not answered: further statements would wait behind the statement that
   * hangs.
   */
  let isStuck = false;

  const setLimit = () => {
    if (canCancel && limitMs !== statementLimitMs()) {
      limitMs = statementLimitMs();
      const settings = `set statement_timeout = ${limitMs}; set idle_in_transaction_session_timeout = ${maxIdleMs}`;
      // Sent with the statement. If it fails, the transaction has failed, and the limit is set again after
      // its rollback.
      client.query(settings).catch(() => undefined);
    }
  };

  const run = async (text: string, values: readonly unknown[]) => {
    const used = generation.number;
    try {
      return await send(statement(text, values, { names, generation: used }));
    } catch (error) {
      if (sqlState(error) !== stale) {
        throw error;
      }
      generation.number = used + 1;
      if (isInTransaction) {
        throw error;
      }
      return send(statement(text, values, { names, generation: generation.number }));
    }
  };

  const connection = {
    async query(text: string, values: readonly unknown[]): Promise<unknown> {
      isInTransaction = text === "begin" || (isInTransaction && text !== "commit" && text !== "rollback");
      if (text === "rollback") {
        limitMs = undefined;
      } else {
        setLimit();
      }
      if (text === "rollback" && isStuck) {
        isStuck = false;
        run(text, values).catch(() => undefined);
        return rolledBack;
      }
      try {
        const result = await run(text, values);
        recordResultFields(result);
        // PostgreSQL answers a COMMIT after a caught failure with ROLLBACK, and without an error.
        if (text === "commit" && result.command === "ROLLBACK") {
          throw new Error("The transaction was rolled back: a statement in it had failed.");
        }
        return result;
      } catch (error) {
        isInvalid ||= invalidating.has(sqlState(error) ?? "");
        if (error instanceof NoAnswerError) {
          isInvalid ||= canCancel;
          isStuck = !canCancel;
        }
        // The connection is lost, and so is the transaction: the first failure is reported and not this one.
        if (text === "rollback" && sqlState(error) === undefined) {
          return rolledBack;
        }
        throw error;
      }
    },
    release() {
      client.release(isInvalid);
      place.release();
    },
  };
  // Has no cursors: only streamed queries use cursors, and there are none.
  return { client: connection as PostgresPoolClient, place };
}

/**
 * Sends and counts statements. Statements of the same tick are sent in one packet. Statements that are sent
 * while another statement is in progress share its wait. Without an answer in time, they fail.
 */
function createSender(client: pg.PoolClient, counts: Counts, canReconnect: boolean) {
  const { stream } = client.connection;
  let isCorked = false;
  let underWay = 0;
  const answers = createAnswerTimer((error) => {
    // The connection to a server is closed, with all its statements. The embedded engine has only this
    // connection.
    if (canReconnect) {
      stream.destroy(error);
    }
  });
  return async (query: pg.QueryConfig): Promise<pg.QueryResult> => {
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      process.nextTick(() => {
        isCorked = false;
        stream.uncork();
      });
    }
    counts.statements += 1;
    counts.waits += Number(underWay === 0);
    underWay += 1;
    answers.restart();
    try {
      return await answers.within(client.query(query));
    } finally {
      underWay -= 1;
      if (underWay === 0) {
        answers.stop();
      } else {
        answers.restart();
      }
    }
  };
}

function statement(
  text: string,
  values: readonly unknown[],
  { names, generation }: { readonly names: Set<string>; readonly generation: number },
): pg.QueryConfig {
  const query = { text, values: [...values] };
  if (values.length === 0) {
    return query;
  }
  const id = `q${generation}_${hash("sha1", text).slice(0, 16)}`;
  if (names.size >= maxNames && !names.has(id)) {
    return query;
  }
  names.add(id);
  return { ...query, name: id };
}
