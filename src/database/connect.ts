/** Opens the database: PostgreSQL by its URL or, without one, the embedded engine in the data folder. */
import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, PostgresDialect, type PostgresPool } from "kysely";
import { committed, conclude, type Database, type Queries, type Transaction } from "./database.ts";
import { startEmbedded } from "./embedded.ts";
import { maintain } from "./maintenance.ts";
import { createPool, type DatabaseLog, sqlState } from "./pool.ts";
import { postgresSettings, refused, requireVersion } from "./postgres.ts";
import type { Tables } from "./schema/index.ts";

export interface DatabaseOptions {
  /** `postgres://…`; TLS as its `sslmode` says. Undefined: the embedded engine. */
  readonly url: string | undefined;
  /** The folder that holds the embedded engine's data; the caller owns it, alone. */
  readonly dataDir: string;
  /** Connections to PostgreSQL at most; default 10. The embedded engine has one. */
  readonly poolSize?: number;
  readonly log: DatabaseLog;
  /** Told when the embedded engine breaks: every query fails from then on, and only a new start helps. */
  readonly onFailure?: (error: Error) => void;
}

/** Serialization, deadlock, a statement's name that is taken, and a server that shuts down: worth another try. */
const retried = new Set(["40001", "40P01", "42P05", "57P01"]);
const maxTries = 3;

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.url === undefined ? await openEmbedded(options) : await openPostgres(options.url, options);
}

async function openEmbedded({ dataDir, log, onFailure }: DatabaseOptions): Promise<Database> {
  const engine = await startEmbedded(dataDir, (error) => {
    log.error({ error: error.message }, "The embedded database stopped: start Tidings again");
    onFailure?.(error);
  });
  const pool = createPool(engine.settings, log);
  const queries = connect(pool);
  const maintenance = maintain(queries, log);
  log.warn({ dataDir }, "Embedded database: not safe against power loss. DATABASE_URL sets PostgreSQL.");

  return assemble("embedded", queries, pool.use, async () => {
    await maintenance[Symbol.asyncDispose]();
    await queries.destroy();
    await engine[Symbol.asyncDispose]();
  });
}

async function openPostgres(url: string, { poolSize = 10, log }: DatabaseOptions): Promise<Database> {
  try {
    const pool = createPool(postgresSettings(url, poolSize), log);
    const queries = connect(pool);
    await requireVersion(queries).catch(async (error: unknown) => {
      await queries.destroy();
      throw error;
    });
    log.info({ poolSize }, "PostgreSQL is connected");
    return assemble("postgres", queries, pool.use, () => queries.destroy());
  } catch (cause) {
    throw refused(url, cause);
  }
}

function connect(pool: PostgresPool): Queries {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

function assemble(
  engine: Database["engine"],
  queries: Queries,
  pool: Database["pool"],
  close: () => Promise<void>,
): Database {
  let closed: Promise<void> | undefined;
  return {
    engine,
    queries,
    pool,
    transaction: (work) => transact(queries, work),
    async [Symbol.asyncDispose]() {
      closed ??= close();
      await closed;
    },
  };
}

async function transact<Result>(
  queries: Queries,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    const done = await attempt(queries, work, tries === maxTries);
    if (done) {
      committed(done.tx);
      return done.result;
    }
    await sleep(tries * (10 + Math.random() * 40));
  }
}

/** One try; undefined when it failed and another may succeed. */
async function attempt<Result>(
  queries: Queries,
  work: (tx: Transaction) => Promise<Result>,
  isLast: boolean,
) {
  try {
    return await queries.transaction().execute(async (tx) => {
      const result = await work(tx);
      await conclude(tx);
      return { tx, result };
    });
  } catch (error) {
    if (isLast || !retried.has(sqlState(error) ?? "")) {
      throw error;
    }
    return undefined;
  }
}
