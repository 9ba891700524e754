/**
 * The composition root: creates a running app from the configuration.
 *
 * Opens the database, migrates it, opens the adapters, creates the platform, and starts the transports and
 * then the jobs. The platform calls back to open the channels and the payment processor, because they need
 * its callbacks and its queue of jobs. Only this file knows all parts.
 */
import { setMaxListeners } from "node:events";
import { toolNames } from "../tools/contract/index.ts";
import { firstInbox, openChannels } from "./adapters/channel/index.ts";
import type { ControlRoute } from "./adapters/channel/simulator/index.ts";
import { openCountries } from "./adapters/countries/index.ts";
import { openDocumentReader } from "./adapters/documents/index.ts";
import { openImageScaler } from "./adapters/images/index.ts";
import { openModels } from "./adapters/models/index.ts";
import { openPatternMatcher } from "./adapters/patterns/index.ts";
import { openPayments } from "./adapters/payments/index.ts";
import { openErasureLog, openStorage } from "./adapters/storage/index.ts";
import { createInstruments, instrumentTools, openTelemetry } from "./adapters/telemetry/index.ts";
import { createWebs } from "./adapters/web/index.ts";
import { createProofRoutes } from "./cli/data-folder/key-proof.ts";
import { createCopyRoutes } from "./cli/manage/backup/copy-route.ts";
import { whenReleased } from "./cli/manage/backup/when-released.ts";
import { createServerCommand } from "./cli/mcp/server-entry.ts";
import { version } from "./cli/version.ts";
import { addressesOf, type Config, isForThisMachine } from "./config/index.ts";
import { type DatabaseOptions, openDatabase } from "./database/connect.ts";
import type { Database } from "./database/database.ts";
import { migrate, type RunMigration } from "./database/migrate.ts";
import { migrations } from "./database/migrations/index.ts";
import { startStatistics } from "./database/statistics.ts";
import { createServer } from "./http/server.ts";
import { gaugeSources } from "./jobs/gauges.ts";
import type { Enqueuer } from "./jobs/job.ts";
import type { RunningJobs } from "./jobs/jobs.ts";
import { createMcpHttpHandler } from "./mcp/http.ts";
import { createToolFilters, gatewayNames, tools } from "./mcp/tool-list/index.ts";
import { throwDatabaseFailure } from "./platform/foundation/kernel/index.ts";
import {
  type Callbacks,
  createPlatform,
  type Modules,
  modules,
  operationsOf,
  type Platform,
  sealedColumns,
} from "./platform/index.ts";
import { type BootstrapResult, bootstrap } from "./platform/operations/bootstrap.ts";
import { openClock } from "./platform/operations/clock.ts";
import { openHold } from "./platform/operations/restore/index.ts";
import type { Channel } from "./ports/channel/channel.ts";
import type { TemplateAuthority } from "./ports/channel/template-authority.ts";
import type { Clock } from "./ports/clock.ts";
import type { ImageScaler } from "./ports/files/image-scaler.ts";
import type { Log } from "./ports/telemetry/log.ts";

export interface AppOptions extends Pick<DatabaseOptions, "onFailure"> {
  readonly config: Config;
  readonly log: Log;
  /** Where to listen; by default the host and port of the configuration. */
  readonly listen?: { readonly host: string; readonly port: number };
  /**
   * A database that is open already; the app closes it. By default the app opens the database of the
   * configuration.
   */
  readonly database?: Database;
  /** The API key that the processes of this data folder share. */
  readonly localKey?: string;
  readonly now?: Clock;
  readonly enabledModules?: Modules;
  /** The files of the console; by default those that the build has put beside the service. */
  readonly consoleFolder?: URL;
  /** By default the package sharp, if it is installed. */
  readonly images?: ImageScaler;
  /** Returns the authority to use in place of the simulated authority. */
  replaceAuthority?(simulated: TemplateAuthority): TemplateAuthority;
  /** By their names, beside the channels of this service. */
  readonly otherChannels?: Readonly<Record<string, Channel>>;
  /** Called once, when the first organization is created. */
  onFirstStart?(created: BootstrapResult): void;
  /** Whether due jobs run automatically; a test with its own clock runs them itself. */
  readonly runsJobs?: boolean;
}

export interface App extends AsyncDisposable {
  /** `http://host:port`: REST under /v1, MCP at /mcp. */
  readonly address: string;
  readonly jobs: RunningJobs;
  readonly database: Database;
}

/** How long running requests and jobs may take to finish when the app stops. */
const shutdownMs = 10_000;
const concurrency = 32; // jobs of one lane at once; webhook deliveries mostly wait

export async function startApp(options: AppOptions): Promise<App> {
  const {
    databaseUrl: url,
    dataDir,
    databasePoolSize: poolSize,
    databaseStartWaitMs: waitMs,
  } = options.config;
  const database = options.database ?? (await openDatabase({ ...options, url, dataDir, poolSize, waitMs }));
  try {
    logMigrations(options.log, await migrate(database));
    return await start(options, database);
  } catch (error) {
    // Nothing else needs to be closed: no request and no job has run, so the other parts have opened no
    // connection.
    await database[Symbol.asyncDispose]();
    throw error;
  }
}

function logMigrations(log: Log, run: readonly RunMigration[]): void {
  // A new database needs them all, and so many lines would say nothing.
  const first = Object.keys(migrations)[0];
  if (run.some(({ name }) => name === first)) {
    const ms = run.reduce((sum, migration) => sum + migration.ms, 0);
    log.info({ migrations: run.length, ms }, "created the tables of a new database");
    return;
  }
  for (const { name: migration, ms } of run) {
    log.info({ migration, ms }, "migrated the database");
  }
}

async function start(options: AppOptions, database: Database): Promise<App> {
  const { config, runsJobs = true, enabledModules = modules } = options;
  const base = await openBase(options, database);
  const { platform, controls } = await openPlatform(base);
  const operations = operationsOf(enabledModules, config.operatorKey !== undefined);
  const mcp = openMcp(base, operations);
  const server = await openServer(base, { platform, controls, operations, mcp });
  const address = await server.listen(options.listen ?? config);
  base.listening.address = address;
  if (runsJobs) {
    await whenReleased({ ...base.hold, log: options.log, signal: base.stopping.signal }, () => {
      platform.jobs.start();
      platform.acts.start();
    });
  }
  const statistics = runsJobs ? startStatistics(database.queries, options.log) : undefined;
  return {
    address,
    jobs: platform.jobs,
    database,
    async [Symbol.asyncDispose]() {
      await server.drain(config.drainDelayMs);
      base.stopping.abort();
      // The jobs stop in the same tick: a new job would be aborted at once and claimed again.
      await Promise.all([platform.jobs.stop(shutdownMs), mcp.close().then(() => server.close(shutdownMs))]);
      await platform.acts.stop();
      await Promise.all([base.telemetry.close(), base.webs.closeWebs(), statistics?.[Symbol.asyncDispose]()]);
      await database[Symbol.asyncDispose]();
    },
  };
}

type Base = Awaited<ReturnType<typeof openBase>>;

/**
 * Opens what the platform and the transports share: clock, secrets, telemetry, web clients and filters of
 * tools.
 */
async function openBase(options: AppOptions, database: Database) {
  const { config } = options;
  const clock = await openClock(database, config.isClockMovable, options.now);
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // one listener for each waiting call
  return {
    options,
    database,
    clock,
    secrets: await prepareDatabase(options, database, clock.now()),
    telemetry: await openTelemetry({
      isScraped: config.telemetry.token !== undefined,
      collector: config.telemetry.collector,
      version,
    }),
    webs: createWebs(config.web),
    filters: createToolFilters(tools, config.toolFilter),
    hold: await openHold(database),
    stopping,
    /** Empty until the server listens. */
    listening: { address: "" },
  };
}

/**
 * Creates the first organization and the local key if they are missing, and returns the secrets with which
 * values are sealed.
 */
function prepareDatabase({ config, log, localKey, onFirstStart }: AppOptions, database: Database, now: Date) {
  return bootstrap(database, {
    owner: config.owner,
    firstInbox,
    localKey,
    now,
    secrets: config,
    sealed: { columns: sealedColumns, isSecretLost: config.isSecretLost, log },
    onFirstStart,
  });
}

/**
 * `controls` are the routes that control the simulators; without permission in the configuration there are
 * none.
 */
async function openPlatform(base: Base) {
  const { options, database, clock, secrets, telemetry, webs, filters, hold, stopping, listening } = base;
  const { config, log, images = openImageScaler(), enabledModules = modules } = options;
  const instruments = createInstruments(telemetry, clock.now);
  let controls: readonly ControlRoute[] = [];
  const platform = createPlatform({
    ...secrets,
    ...openModels(config.models),
    ...clock,
    database,
    log,
    enabledModules,
    concurrency,
    databaseWaitMs: config.databaseWaitMs,
    instruments,
    metrics: telemetry.metrics,
    traceparent: () => telemetry.tracer.traceparent(),
    web: webs.web,
    receivers: webs.receivers,
    countries: await openCountries(config.countries),
    storage: openStorage(config),
    erasureLog: openErasureLog({ ...config, ...hold, now: clock.now, log }),
    documents: openDocumentReader(),
    images,
    patterns: openPatternMatcher(),
    quotas: config.quotas,
    retention: config.retention,
    wallet: config.wallet,
    firstInbox,
    hiddenBy: filters.hiddenBy,
    assistantCommand: isForThisMachine(config) ? createServerCommand() : null,
    stopping: stopping.signal,
    addresses: addressesOf(config, () => listening.address),
    openChannels(callbacks, enqueue) {
      const { routes, jobs, ...ports } = openPorts(base, callbacks, enqueue);
      controls = config.isSimulatorControllable ? routes : [];
      return { ...instruments.ports(ports), jobs };
    },
  });
  return { platform, controls };
}

/**
 * The channels and the payment processor, with the jobs of the simulators and the routes that control them.
 */
function openPorts(
  { options, database, clock: { now }, secrets, webs }: Base,
  callbacks: Callbacks,
  enqueue: Enqueuer,
) {
  const { config, replaceAuthority, otherChannels } = options;
  const { channels, routes, jobs } = openChannels({
    database,
    enqueue,
    callbacks,
    now,
    web: webs.web,
    whatsapp: config.whatsapp,
    replaceAuthority,
  });
  const processor = openPayments({
    ...secrets,
    razorpay: config.razorpay,
    database,
    callbacks,
    now,
  });
  return {
    channels: { ...channels, ...otherChannels },
    payments: processor.payments,
    routes: [...routes, ...processor.routes],
    jobs,
  };
}

type Operations = ReturnType<typeof operationsOf>;

function openMcp({ options: { config, log }, telemetry, filters }: Base, operations: Operations) {
  const names = toolNames(operations);
  return createMcpHttpHandler({
    availableTools: new Set(names),
    version,
    log,
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
    maxBodyBytes: config.bodyLimit,
    resultLimit: config.resultLimit,
    toolFilter: filters.toolFilter,
    instrument: instrumentTools(new Set([...names, ...gatewayNames]), telemetry),
  });
}

function openServer(
  { options, database, clock, telemetry, hold, listening }: Base,
  {
    platform,
    controls,
    operations,
    mcp,
  }: {
    readonly platform: Platform;
    readonly controls: readonly ControlRoute[];
    readonly operations: Operations;
    readonly mcp: ReturnType<typeof openMcp>;
  },
) {
  const { config, log, localKey } = options;
  const { now, sharedClock } = clock;
  const { token } = config.telemetry;
  const scrape = telemetry.scrape?.(gaugeSources({ database, now, sharedClock }));
  const folderRoutes = [
    ...createProofRoutes(localKey, () => listening.address),
    ...createCopyRoutes({ database, dataDir: config.dataDir, localKey }),
  ];
  return createServer({
    platform,
    operations,
    routes: [...platform.routes, ...controls, ...folderRoutes],
    version,
    pages: {
      // The build puts them beside the service.
      documentation: new URL("docs/", import.meta.url),
      console: options.consoleFolder ?? new URL("console/", import.meta.url),
      allowedHosts: config.allowedHosts,
      publicUrl: config.publicUrl,
    },
    log,
    now,
    mcp,
    telemetry,
    rateLimits: config.rateLimits,
    bodyLimit: config.bodyLimit,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    operatorKey: config.operatorKey,
    metricsEndpoint: token !== undefined && scrape ? { token, scrape } : undefined,
    checkReady: platform.checkDatabase,
    isHeld: () => hold.isHeld().catch(throwDatabaseFailure),
  });
}
