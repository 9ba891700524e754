/**
 * Opens the database: PostgreSQL by its URL, or the embedded engine in the data folder if there is no URL.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  Kysely,
  type KyselyProps,
  PostgresDialect,
  type PostgresPool,
} from "kysely";
import type { Log } from "../ports/telemetry/log.ts";
import { type Database, DatabaseTransaction, type Queries, type TransactionWork } from "./database.ts";
import { startEmbedded, startMaintenance } from "./embedded/index.ts";
import { isOutage, NoConnectionError, sqlState } from "./outage/index.ts";
import type { Ownership } from "./ownership/index.ts";
import { createPool, detectSessionUse, readServers, reportSessionUse, type Servers } from "./pool/index.ts";
import { connectionError, defaultPoolSize, postgresSettings, requireServer } from "./postgres.ts";
import type { Tables } from "./schema/index.ts";
import { runTransaction, type TransactionOpening } from "./transaction.ts";

export interface DatabaseOptions {
  /** `postgres://…`, with TLS according to its `sslmode`. Undefined for the embedded engine. */
  readonly url: string | undefined;
  /** The data folder, for the embedded engine. */
  readonly dataDir: string;
  /**
   * The ownership of the data folder, if this process already has it. By default the embedded engine claims
   * the folder.
   */
  readonly ownership?: Ownership | undefined;
  /** Whether a new embedded database begins with no table, for an older schema. Default: with all tables. */
  readonly startsEmpty?: boolean;
  /** Whether the embedded engine loads pageinspect and amcheck, which read pages. Default: no. */
  readonly hasPageTools?: boolean;
  /**
   * Whether the embedded engine is vacuumed and analyzed every minute. Default: yes. A test that counts
   * statements does without.
   */
  readonly isMaintained?: boolean;
  /** The most connections to PostgreSQL; default 10. The embedded engine has one. */
  readonly poolSize?: number;
  /** How long to wait for a PostgreSQL server that refuses the connection; default 0. */
  readonly waitMs?: number;
  readonly log: Log;
  /** Called when the embedded engine crashes. Every later query fails until the process is restarted. */
  readonly onFailure?: ((error: Error) => void) | undefined;
}

/**
 * Serialization failure, deadlock, a reference to a row that another transaction has changed since it was
 * read, a statement prepared before a migration, an unknown statement, a statement name in use, a server that
 * shuts down, and a transaction in which this process sent nothing for too long.
 */
const retryable = new Set(["40001", "40P01", "23503", "0A000", "26000", "42P05", "57P01", "25P03"]);
const maxAttempts = 3;
/** The wait between two attempts to connect at the start. */
const retryConnectMs = 1_000;

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.url === undefined ? await openEmbedded(options) : await openPostgres(options.url, options);
}

async function openEmbedded({
  dataDir,
  ownership,
  startsEmpty = false,
  hasPageTools = false,
  isMaintained = true,
  log,
  onFailure,
}: DatabaseOptions): Promise<Database> {
  const engine = await startEmbedded({
    dataDir,
    ownership,
    startsEmpty,
    hasPageTools,
    onFailure(error) {
      log.error({ error: error.message }, "The embedded database stopped: restart Tidings");
      onFailure?.(error);
    },
  });
  const pool = createPool(engine.settings, {
    log,
    canCancel: false,
    timeoutMs: engine.settings.connectionTimeoutMillis,
  });
  const connection = await connect(pool);
  const { queries } = connection;
  const maintenance = isMaintained ? startMaintenance(queries, log, pool.damaged) : undefined;
  log.warn(
    { dataDir },
    "Embedded database: not safe against power loss. Set DATABASE_URL to use PostgreSQL.",
  );

  return assemble("embedded", connection, pool, async () => {
    await maintenance?.[Symbol.asyncDispose]();
    await queries.destroy();
    await engine[Symbol.asyncDispose]();
  });
}

async function openPostgres(url: string, options: DatabaseOptions): Promise<Database> {
  const { waitMs = 0, log } = options;
  const servers = readServers(url);
  const begin = performance.now();
  for (let number = 1; ; number += 1) {
    try {
      return await connectToPostgres(servers, options);
    } catch (error) {
      // An error of the settings does not pass, so its cause is reported at once.
      const cause = error instanceof NoConnectionError ? error.cause : error;
      const failure = connectionError(url, cause);
      if (!isOutage(cause) || performance.now() - begin >= waitMs) {
        throw failure;
      }
      if (number === 1) {
        log.warn({ wait_seconds: waitMs / 1000 }, `${failure.message} Waiting for it.`);
      }
      await sleep(retryConnectMs);
    }
  }
}

async function connectToPostgres(
  servers: Servers,
  { poolSize = defaultPoolSize, log }: DatabaseOptions,
): Promise<Database> {
  const sessions = await detectSessionUse(servers);
  const settings = postgresSettings(servers, poolSize);
  const pool = createPool(settings, { log, canCancel: true, sessions, servers });
  const connection = await connect(pool);
  const { queries } = connection;
  await requireServer(queries, { poolSize, sessions, log }).catch(async (error: unknown) => {
    await queries.destroy();
    throw error;
  });
  log.info({ poolSize }, "PostgreSQL is connected");
  reportSessionUse(sessions, log);
  return assemble("postgres", connection, pool, () => queries.destroy());
}

/** Kysely and the parts from which a transaction is made. */
interface Connection {
  readonly queries: Queries;
  readonly props: KyselyProps;
}

async function connect(pool: PostgresPool): Promise<Connection> {
  const dialect = new PostgresDialect({ pool });
  const driver = dialect.createDriver();
  await driver.init();
  const connections = new DefaultConnectionProvider(driver);
  const executor = new DefaultQueryExecutor(
    dialect.createQueryCompiler(),
    dialect.createAdapter(),
    connections,
  );
  const props = { config: { dialect }, dialect, driver, executor };
  return { queries: new Kysely<Tables>(props), props };
}

function assemble(
  engine: Database["engine"],
  { queries, props }: Connection,
  { use, damaged }: ReturnType<typeof createPool>,
  close: () => Promise<void>,
): Database {
  let closed: Promise<void> | undefined;
  const withTransactions = <Tx extends DatabaseTransaction>(
    create: (props: KyselyProps) => Tx,
  ): Database<Tx> => ({
    engine,
    queries,
    pool: use,
    damaged,
    transaction: (work, options = {}) => transact({ props, create, options }, work),
    withTransactions,
    async [Symbol.asyncDispose]() {
      closed ??= close();
      await closed;
    },
  });
  return withTransactions((transactionProps) => new DatabaseTransaction(transactionProps));
}

async function transact<Tx extends DatabaseTransaction, Result>(
  opening: TransactionOpening<Tx>,
  work: TransactionWork<Result, Tx>,
): Promise<Result> {
  for (let number = 1; ; number += 1) {
    const done = await runTransaction(opening, work).catch((error: unknown) => {
      if (number === maxAttempts || !retryable.has(sqlState(error) ?? "")) {
        throw error;
      }
    });
    if (done) {
      done.tx.runAfterCommit();
      return done.result;
    }
    await sleep(number * (10 + Math.random() * 40));
  }
}
