/**
 * The composition root: config in, running house out.
 *
 * config → database → migrate → ports → jobs → platform → http → worker. It is the only place that
 * knows them all; tests call it with another config and a clock of their own.
 */
import { setMaxListeners } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Failure, fail } from "../tools/failure.ts";
import { toolNames } from "../tools/tool.ts";
import { createSimulator } from "./adapters/channel/simulator/index.ts";
import { ControlRefusal } from "./adapters/channel/simulator/refusal.ts";
import type { ControlRoute } from "./adapters/channel/simulator/routes.ts";
import { createDiskStorage } from "./adapters/storage/disk.ts";
import { createS3Storage } from "./adapters/storage/s3.ts";
import { openTelemetry } from "./adapters/telemetry/index.ts";
import { createWeb } from "./adapters/web/index.ts";
import { rulesOf } from "./adapters/web/rules.ts";
import { type Client, createClient } from "./client.ts";
import type { Config } from "./config.ts";
import { openDatabase } from "./database/connect.ts";
import type { Database } from "./database/database.ts";
import { migrate } from "./database/migrate.ts";
import { createSimulatorStore } from "./database/simulator-ledger.ts";
import type { Scraping } from "./http/metrics.ts";
import { createServer } from "./http/server.ts";
import { readGauges } from "./jobs/gauges.ts";
import { createJobs, type RunningJobs } from "./jobs/jobs.ts";
import { createMcpHttpHandler } from "./mcp/http.ts";
import { createNarrowing } from "./mcp/narrow.ts";
import { tools } from "./mcp/tools.ts";
import { admitLocalKey, bootstrap, type FirstStart, sharedSecret } from "./platform/bootstrap.ts";
import type { World } from "./platform/core/world.ts";
import {
  createPlatform,
  defineJobs,
  listenersOf,
  type Modules,
  modules,
  operationsOf,
  type Platform,
  recordersOf,
  toolsOf,
} from "./platform/index.ts";
import type { Clock } from "./ports/clock.ts";
import type { Log } from "./ports/log.ts";
import type { Storage } from "./ports/storage.ts";
import type { Telemetry } from "./ports/telemetry.ts";
import type { Web } from "./ports/web.ts";
import { version } from "./version.ts";
import { watchCall, watchChannel, watchJobs, watchTools, watchWork } from "./watch.ts";

export interface AppOptions {
  readonly config: Config;
  readonly log: Log;
  /** Where it listens; the config's host and port when left out. */
  readonly listen?: { readonly host: string; readonly port: number };
  /** The key that the processes of this machine share. */
  readonly localKey?: string;
  readonly now?: Clock;
  readonly built?: Modules;
  /** Told what the very first start made, once. */
  onFirstStart?(made: FirstStart): void;
  /** The embedded database broke: nothing works until the process is started again. */
  onFailure?(error: Error): void;
  /** Whether due work is done by itself; a test with a turned clock does it by hand. */
  readonly works?: boolean;
}

export interface App extends AsyncDisposable {
  /** `http://host:port`, where REST stands under /v1 and MCP at /mcp. */
  readonly address: string;
  readonly jobs: RunningJobs;
  readonly database: Database;
}

/** How long running requests and jobs may take to end when the house stops. */
const graceMs = 10_000;

/** Jobs of one lane at once. A webhook's tries mostly wait; it is as many as the web connects to one host. */
const concurrency = 32;
/** How long the last spans may take to be sent: less than whoever stops the house has patience for. */
const lastSpansMs = 2_000;

export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, now = () => new Date(), built = modules, works = true } = options;
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    log,
    onFailure: (error) => options.onFailure?.(error),
  });
  try {
    await migrate(database);
    const firstStart = await bootstrap(database, config.owner, now());
    if (firstStart) {
      // At once: whatever fails after this, the secrets are in the database and are not made again.
      options.onFirstStart?.(firstStart);
    }
    if (options.localKey !== undefined) {
      await admitLocalKey(database, options.localKey, now());
    }
    const secret = config.secret ?? (await sharedSecret(database));
    const { previousSecret } = config;
    const web = createWeb({ rules: rulesOf(config.web) });
    const { token, collector } = config.telemetry;
    const telemetry = await openTelemetry({ isScraped: token !== undefined, collector, version });
    const stopping = new AbortController();
    // Each call that waits listens to it.
    setMaxListeners(0, stopping.signal);
    let address = "";
    const addresses = { service: () => config.publicUrl ?? address, cdn: config.cdnUrl };
    const storage = openStorage(config);
    const outside = { web, storage, addresses, stopping: stopping.signal };
    const parts = { database, secret, previousSecret, now, log, built, ...outside };
    const { platform, jobs, controls } = build({ ...parts, telemetry });
    const { host, port } = options.listen ?? config;
    const face = openFaces({ config, log, now, platform, database, controls, built, telemetry });
    address = await face.listen(host, port);
    if (works) {
      jobs.start();
    }
    return {
      address,
      jobs,
      database,
      async [Symbol.asyncDispose]() {
        stopping.abort();
        await face.close();
        await jobs.stop(graceMs);
        await telemetry.close(lastSpansMs);
        await web[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}

interface Parts {
  readonly database: Database;
  readonly secret: string;
  readonly previousSecret: string | undefined;
  readonly now: Clock;
  readonly log: Log;
  readonly built: Modules;
  readonly web: Web;
  readonly storage: Storage;
  readonly addresses: World["addresses"];
  readonly stopping: AbortSignal;
  readonly telemetry: Telemetry;
}

/** Files stand in the data folder, or in a bucket whose uploads are put together there. */
function openStorage({ dataDir, s3 }: Config): Storage {
  const folder = join(dataDir, "files");
  return s3 ? createS3Storage(s3, join(folder, "arriving")) : createDiskStorage(folder);
}

/** Ports, jobs and platform, each given what it needs of the others. */
function build({ built, telemetry, ...given }: Parts) {
  const { database, now, log } = given;
  const { metrics, tracer } = telemetry;
  const ears: Platform["ears"] = {
    inbound: (message) => platform.ears.inbound(message),
    receipts: (receipts) => platform.ears.receipts(receipts),
  };
  const store = createSimulatorStore({
    database,
    // A lane for each organization: no one's phones wait for another's.
    enqueue: (tx, ...work) =>
      jobs.enqueue(tx, ...work.map((one) => ({ ...one, lane: `simulator:${one.organization_id}` }))),
  });
  const simulator = createSimulator({ store, ears, now });
  const definitions = [...defineJobs(() => world, built), simulator.receiptJob];
  const watched = definitions.map((definition) => watchWork(definition, telemetry, now));
  const jobs = watchJobs(createJobs({ database, now, definitions: watched, log, concurrency }), tracer);
  const channels = { simulator: watchChannel("simulator", simulator.channel, telemetry) };
  const derived = { listeners: listenersOf(built), recorders: recordersOf(built), tools: toolsOf(built) };
  const world: World = { ...given, ...derived, metrics, jobs, channels };
  const unwatched = createPlatform(world, built);
  const platform = { ...unwatched, call: watchCall(unwatched.call, tracer) };
  return { platform, jobs, controls: simulator.routes.map(refusing) };
}

/** A control's refusal in the words of the house. */
function refusing(route: ControlRoute): ControlRoute {
  return {
    ...route,
    async handle(request) {
      try {
        return await route.handle(request);
      } catch (error) {
        if (!(error instanceof ControlRefusal)) {
          throw error;
        }
        const { field, message } = error;
        const param = field === "" ? {} : { param: field };
        throw fail("invalid_request", {
          reason: message,
          ...param,
          details: [{ field, code: "invalid", message }],
        });
      }
    },
  };
}

interface FaceParts {
  readonly config: Config;
  readonly log: Log;
  readonly now: Clock;
  readonly platform: Platform;
  readonly database: Database;
  readonly controls: readonly ControlRoute[];
  readonly built: Modules;
  readonly telemetry: Telemetry;
}

/** REST and MCP on one port; MCP calls the REST face of this same process, with the caller's key. */
function openFaces(parts: FaceParts) {
  const { config, log, platform, database, controls, built, telemetry } = parts;
  const operations = operationsOf(built);
  let address = "";
  let isClosing = false;
  const client: Client = createClient({ baseUrl: async () => address });
  const mcp = createMcpHttpHandler({
    client,
    authenticate: (credential) => platform.authenticate(credential).catch(unknownCredential),
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
    maxBodyBytes: config.bodyLimit,
    built: new Set(toolNames(operations)),
    narrowing: createNarrowing(tools, config.narrowing),
    resultLimit: config.resultLimit,
    watch: watchTools(toolNames(operations), telemetry),
    version,
    log,
  });
  const server = createServer({
    platform,
    operations,
    version,
    log,
    rates: config.rates,
    bodyLimit: config.bodyLimit,
    trustedProxies: config.trustedProxies,
    controls,
    mcp,
    telemetry,
    scraping: scrapingOf(parts),
    async ready() {
      if (isClosing) {
        throw fail("unavailable", { reason: "it is stopping." });
      }
      await database.queries.selectFrom("settings").select("name").limit(1).execute();
    },
  });
  return {
    async listen(host: string, port: number): Promise<string> {
      await server.listen({ host, port });
      const bound = server.server.address() as AddressInfo; // a TCP port, as just asked for
      const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
      address = `http://${isAny(bound.address) ? "127.0.0.1" : name}:${bound.port}`;
      return address;
    },
    async close(): Promise<void> {
      isClosing = true;
      await mcp.close();
      // A request that does not end by itself is ended.
      const patience = setTimeout(() => server.server.closeAllConnections(), graceMs);
      await server.close();
      clearTimeout(patience);
      await client.close();
    },
  };
}

/** The figures and the token that opens them, if there is one. */
function scrapingOf({ config, database, now, telemetry }: FaceParts): Scraping | undefined {
  const { token } = config.telemetry;
  const gauges = () => readGauges(database.queries, now());
  const scrape = telemetry.scrape?.({ gauges, pool: database.pool });
  return token !== undefined && scrape ? { token, scrape } : undefined;
}

/** A credential that is refused; anything else that went wrong is not the caller's fault. */
function unknownCredential(error: unknown): undefined {
  if (!(error instanceof Failure)) {
    throw error;
  }
}

/** Listening everywhere, it calls itself on loopback. */
function isAny(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}
