/**
 * The `pg` pool for Kysely. Every statement with values is prepared with a name, unless a pooler in front of
 * the server loses the names.
 *
 * A named statement is parsed once for each connection. Connections are acquired and released one by one,
 * never through `pool.query`, which closes the connection after every failed query.
 */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresPool } from "kysely";
import pg from "pg";
import type { Log } from "../../ports/telemetry/log.ts";
import type { PoolUsage } from "../../ports/telemetry/telemetry.ts";
import { NoAnswerError, NoConnectionError } from "../outage/index.ts";
import { FairQueue } from "../sharing/index.ts";
import { type Connection, damageOf, type PoolState, prepareSession, wrap } from "./connection.ts";
import { createClientClass, type Servers } from "./servers.ts";
import { ownSessions, type SessionUse } from "./session-use.ts";

export { type ResultField, resultFieldsOf } from "./result-fields.ts";
export { readServers, type Servers } from "./servers.ts";
export { detectSessionUse, reportSessionUse, type SessionUse } from "./session-use.ts";

const closeTimeoutMs = 5_000;

/** The limit for acquiring a connection. */
const defaultTimeoutMs = 10_000;

interface PoolOptions {
  readonly log: Log;
  /** Whether the engine can cancel a statement at a time limit of its session. */
  readonly canCancel: boolean;
  /** The limit for waiting for a connection; default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Default: every connection has a session of its own. */
  readonly sessions?: SessionUse;
  /** The servers of which one is used; default: the one of the settings. */
  readonly servers?: Servers;
}

interface DamageablePool extends PostgresPool {
  /** For the metrics. */
  use(): PoolUsage;
  /** As `Database.damaged`. */
  readonly damaged: AbortSignal;
}

/** The pool for Kysely's dialect. */
export function createPool(
  settings: pg.PoolConfig,
  { log, canCancel, timeoutMs = defaultTimeoutMs, sessions = ownSessions(), servers }: PoolOptions,
): DamageablePool {
  const pool = new pg.Pool({
    ...settings,
    ...(servers ? { Client: createClientClass(servers) } : {}),
    pipeline: true,
    types,
    async onConnect(client) {
      await settings.onConnect?.(client);
      await limitFirstStatements(client, settings.connectionTimeoutMillis, async () => {
        await servers?.check(client);
        await prepareSession(client, sessions);
      });
    },
  });
  const queue = new FairQueue({
    size: settings.max ?? 1,
    timeoutMs,
    place: "database connection (inside a transaction, use only its `tx` for queries)",
  });
  const connections = new WeakMap<pg.PoolClient, Connection>();
  const counts = { statements: 0, waits: 0 };
  const damage = new AbortController();
  setMaxListeners(0, damage.signal);
  const state: PoolState = { canCancel, sessions, counts, log, damage, generation: 0, epoch: 0 };
  damage.signal.addEventListener("abort", () => {
    const { message: error } = damageOf(damage.signal);
    log.error({ error }, "The database is damaged, so this process writes nothing more: see docs/backup.md");
  });

  // Without listeners, a connection that breaks while idle, or between two statements, would end the process.
  pool.on("error", (error) => log.warn({ error: error.message }, "A database connection was lost"));
  pool.on("connect", (client) => client.on("error", () => undefined));

  /** A connection of the pool, or a new one to the first server in turn that accepts it. */
  const connect = async (attempts = servers?.count ?? 1): Promise<Connection> => {
    const url = servers?.current() ?? "";
    try {
      const client = await pool.connect();
      const connection = connections.get(client) ?? wrap(client, state);
      connections.set(client, connection);
      if (!connection.isOutdated()) {
        return connection;
      }
      client.release(true);
    } catch (error) {
      servers?.reject(url);
      if (attempts === 1) {
        throw new NoConnectionError(error);
      }
      return connect(attempts - 1);
    }
    return connect(attempts);
  };

  return {
    damaged: damage.signal,
    use: () => ({ ...counts, inUse: pool.totalCount - pool.idleCount, waiting: queue.waiting }),
    async connect() {
      const release = await queue.acquire();
      try {
        const connection = await connect();
        connection.place.release = release;
        return connection.client;
      } catch (error) {
        release();
        throw error;
      }
    },
    // Ending the pool waits until every connection is released. A connection that hangs must not prevent the
    // process from exiting.
    end: () => Promise.race([pool.end(), sleep(closeTimeoutMs, undefined, { ref: false })]),
  };
}

/** The limit of the pool for connecting ends with the authentication. */
async function limitFirstStatements(
  client: pg.ClientBase,
  timeoutMs: number | undefined,
  send: () => Promise<void>,
): Promise<void> {
  // The clients of a pool are of this class: the types of pg declare only its base.
  const { connection } = client as pg.Client;
  const end = () =>
    connection.stream.destroy(new NoAnswerError("The server did not answer a new connection."));
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs);
  try {
    await send();
  } finally {
    clearTimeout(timer);
  }
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
