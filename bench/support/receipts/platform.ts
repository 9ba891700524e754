/** Starts the platform without transports, with a channel made for the benchmark, on either engine. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstInbox } from "../../../src/adapters/channel/index.ts";
import { openCountries } from "../../../src/adapters/countries/index.ts";
import { openDocumentReader } from "../../../src/adapters/documents/index.ts";
import { openImageScaler } from "../../../src/adapters/images/index.ts";
import { openModels } from "../../../src/adapters/models/index.ts";
import { openPatternMatcher } from "../../../src/adapters/patterns/index.ts";
import { openStorage } from "../../../src/adapters/storage/index.ts";
import { noMetrics } from "../../../src/adapters/telemetry/off.ts";
import { createWebs } from "../../../src/adapters/web/index.ts";
import { readConfig } from "../../../src/config/index.ts";
import { openDatabase } from "../../../src/database/connect.ts";
import type { Database } from "../../../src/database/database.ts";
import { migrate } from "../../../src/database/migrate.ts";
import { createPlatform, type Platform, sealedColumns } from "../../../src/platform/index.ts";
import { bootstrap } from "../../../src/platform/operations/bootstrap.ts";
import type { Channel } from "../../../src/ports/channel/channel.ts";
import { runOnServer, withDatabase } from "../../../test/support/postgres.ts";
import { unreachablePayments } from "../unreachable-payments.ts";

export interface BenchPlatform extends AsyncDisposable {
  readonly platform: Platform;
  readonly database: Database;
}

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const log = { debug() {}, info() {}, warn() {}, error: console.error };
/** The same number as in the service. */
const concurrency = 32;

/**
 * Uses a new database with the first organization and its inbox. Jobs run only when the benchmark runs them.
 */
export async function startPlatform(
  engine: "postgres" | "embedded",
  channel: Channel,
): Promise<BenchPlatform> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-receipts-"));
  const name = `tidings_receipts_${process.pid}`;
  const url = engine === "postgres" ? withDatabase(server, name) : undefined;
  if (url !== undefined) {
    await runOnServer(server, `create database ${name}`);
  }
  const { config } = readConfig({ TIDINGS_DATA_DIR: dataDir });
  const database = await openDatabase({ url, dataDir, log });
  await migrate(database);
  const now = () => new Date();
  const secrets = await bootstrap(database, {
    owner: config.owner,
    firstInbox,
    localKey: undefined,
    now: now(),
    secrets: config,
    sealed: { columns: sealedColumns, isSecretLost: false, log },
  });
  const { web, receivers } = createWebs(config.web);
  const platform = createPlatform({
    database,
    now,
    sandbox: undefined,
    log,
    web,
    receivers,
    concurrency,
    traceparent: () => undefined,
    metrics: noMetrics,
    ...secrets,
    stopping: new AbortController().signal,
    retention: config.retention,
    quotas: config.quotas,
    wallet: config.wallet,
    countries: await openCountries(config.countries),
    ...openModels(config.models),
    documents: openDocumentReader(),
    images: openImageScaler(),
    patterns: openPatternMatcher(),
    storage: openStorage(config),
    erasureLog: undefined,
    firstInbox,
    hiddenBy: () => undefined,
    assistantCommand: null,
    addresses: { service: () => "http://127.0.0.1", isPublic: false, cdn: undefined },
    openChannels: () => ({
      channels: { simulator: channel },
      payments: unreachablePayments,
      jobs: [],
    }),
  });
  return {
    platform,
    database,
    async [Symbol.asyncDispose]() {
      await platform.jobs.stop();
      await Promise.all([web[Symbol.asyncDispose](), receivers[Symbol.asyncDispose]()]);
      await database[Symbol.asyncDispose]();
      if (url !== undefined) {
        await runOnServer(server, `drop database ${name} with (force)`);
      }
      await rm(dataDir, { recursive: true });
    },
  };
}
