/**
 * The composition root: creates a running app from the configuration.
 *
 * config → database → migrate → ports → jobs → platform → transports → worker. Only this file knows all parts.
 */
import { setMaxListeners } from "node:events";
import { toolNames } from "../tools/contract/index.ts";
import { openChannels } from "./adapters/channel/index.ts";
import type { ControlRoute } from "./adapters/channel/simulator/index.ts";
import { openCountries } from "./adapters/countries/index.ts";
import { openDocumentReader } from "./adapters/documents/index.ts";
import { openModels } from "./adapters/models/index.ts";
import { openPatternMatcher } from "./adapters/patterns/index.ts";
import { openPayments } from "./adapters/payments/index.ts";
import { openStorage } from "./adapters/storage/index.ts";
import { createInstruments, instrumentTools, openTelemetry } from "./adapters/telemetry/index.ts";
import { createWebs } from "./adapters/web/index.ts";
import { createProofRoutes } from "./cli/key-proof.ts";
import { version } from "./cli/version.ts";
import { addressesOf, type Config } from "./config/index.ts";
import { type DatabaseOptions, openDatabase } from "./database/connect.ts";
import type { Database } from "./database/database.ts";
import { migrate } from "./database/migrate.ts";
import { createServer } from "./http/server.ts";
import { gaugeSources } from "./jobs/gauges.ts";
import type { RunningJobs } from "./jobs/jobs.ts";
import { createMcpHttpHandler } from "./mcp/http.ts";
import { createToolFilters, executeToolName, searchToolsName, tools } from "./mcp/tool-list/index.ts";
import { createPlatform, type Modules, modules, operationsOf, sealedColumns } from "./platform/index.ts";
import { type BootstrapResult, bootstrap } from "./platform/operations/bootstrap.ts";
import { openClock } from "./platform/operations/clock.ts";
import type { Clock } from "./ports/clock.ts";
import type { Log } from "./ports/log.ts";
import type { TemplateAuthority } from "./ports/template-authority.ts";

export interface AppOptions extends Pick<DatabaseOptions, "onFailure"> {
  readonly config: Config;
  readonly log: Log;
  /** Where to listen; by default the host and port of the configuration. */
  readonly listen?: { readonly host: string; readonly port: number };
  /** Opened already; the app closes it. By default it opens the one of the configuration. */
  readonly database?: Database;
  /** The API key that the processes of this data folder share. */
  readonly localKey?: string;
  readonly now?: Clock;
  readonly enabledModules?: Modules;
  /** Puts another authority in the place of the simulated one. */
  replaceAuthority?(simulated: TemplateAuthority): TemplateAuthority;
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
  const { databaseUrl: url, dataDir, databaseWaitMs: waitMs } = options.config;
  const database = options.database ?? (await openDatabase({ ...options, url, dataDir, waitMs }));
  try {
    await migrate(database);
    return await start(options, database);
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}

async function start(options: AppOptions, database: Database): Promise<App> {
  const { config, log, localKey, onFirstStart, runsJobs = true, enabledModules = modules } = options;
  const { now, sandbox, sharedClock } = await openClock(database, config.isClockMovable, options.now);
  const { toolFilter, hiddenBy } = createToolFilters(tools, config.toolFilter);
  const secrets = await bootstrap(database, {
    ...{ owner: config.owner, localKey, now: now(), onFirstStart, secrets: config },
    sealed: { columns: sealedColumns, isSecretLost: config.isSecretLost, log },
  });
  const { token, collector } = config.telemetry;
  const telemetry = await openTelemetry({ isScraped: token !== undefined, collector, version });
  const { web, receivers, closeWebs } = createWebs(config.web);
  const instruments = createInstruments(telemetry, now);
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // one listener for each waiting call
  let address = "";
  let controls: readonly ControlRoute[] = [];
  const platform = createPlatform({
    ...{ database, now, log, web, receivers, enabledModules, concurrency, metrics: telemetry.metrics },
    ...{ stopping: stopping.signal, retention: config.retention, wallet: config.wallet, instruments },
    ...{ countries: await openCountries(config.countries), ...openModels(config.models), hiddenBy, sandbox },
    addresses: addressesOf(config, () => address),
    patterns: openPatternMatcher(),
    sharedClock,
    ...{ ...secrets, quotas: config.quotas, storage: openStorage(config), documents: openDocumentReader() },
    openChannels(callbacks, enqueue) {
      const parts = { database, enqueue, callbacks, now, web, whatsapp: config.whatsapp };
      const { jobs, ...opened } = openChannels({ ...options, ...parts });
      const { payments, routes } = openPayments({ ...config, ...secrets, database, callbacks, now });
      controls = config.isSimulatorControllable ? [...opened.routes, ...routes] : [];
      return { ...instruments.ports({ ...opened, payments }), jobs };
    },
  });
  const operations = operationsOf(enabledModules, config.operatorKey !== undefined);
  const names = toolNames(operations);
  const mcp = createMcpHttpHandler({
    ...{ availableTools: new Set(names), version, log },
    ...{ allowedHosts: config.allowedHosts, allowedOrigins: config.allowedOrigins },
    ...{ maxBodyBytes: config.bodyLimit, resultLimit: config.resultLimit, toolFilter },
    instrument: instrumentTools(new Set([...names, searchToolsName, executeToolName]), telemetry),
  });
  const scrape = telemetry.scrape?.(gaugeSources({ database, now, sharedClock }));
  const routes = [...platform.routes, ...controls, ...createProofRoutes(localKey, () => address)];
  const server = createServer({
    ...{ platform, operations, routes, version, log, now, mcp, telemetry },
    ...{ rateLimits: config.rateLimits, bodyLimit: config.bodyLimit, trustedProxies: config.trustedProxies },
    operatorKey: config.operatorKey,
    metricsEndpoint: token !== undefined && scrape ? { token, scrape } : undefined,
    checkReady: platform.checkDatabase,
  });
  address = await server.listen(options.listen ?? config);
  if (runsJobs) {
    platform.jobs.start();
  }
  return {
    ...{ address, jobs: platform.jobs, database },
    async [Symbol.asyncDispose]() {
      await server.drain(config.drainDelayMs);
      stopping.abort();
      // No job may start from here on: one that the signal ended would be claimed again and again.
      await Promise.all([platform.jobs.stop(shutdownMs), mcp.close().then(() => server.close(shutdownMs))]);
      await Promise.all([telemetry.close(), closeWebs()]);
      await database[Symbol.asyncDispose]();
    },
  };
}
