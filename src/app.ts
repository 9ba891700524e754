/**
 * The composition root: config in, running house out.
 *
 * config → database → migrate → ports → jobs → platform → http → worker. It is the only place that
 * knows them all; tests call it with another config and a clock of their own.
 */
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Failure, fail } from "../tools/failure.ts";
import { toolNames } from "../tools/tool.ts";
import { createSimulator } from "./adapters/channel/simulator/index.ts";
import { ControlRefusal } from "./adapters/channel/simulator/refusal.ts";
import type { ControlRoute } from "./adapters/channel/simulator/routes.ts";
import { createDiskStorage } from "./adapters/storage/disk.ts";
import { createS3Storage } from "./adapters/storage/s3.ts";
import { createWeb } from "./adapters/web/index.ts";
import { rulesOf } from "./adapters/web/rules.ts";
import { type Client, createClient } from "./client.ts";
import type { Config } from "./config.ts";
import { openDatabase } from "./database/connect.ts";
import type { Database } from "./database/database.ts";
import { migrate } from "./database/migrate.ts";
import { createSimulatorStore } from "./database/simulator-ledger.ts";
import { createServer } from "./http/server.ts";
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
} from "./platform/index.ts";
import type { Clock } from "./ports/clock.ts";
import type { Log } from "./ports/log.ts";
import type { Storage } from "./ports/storage.ts";
import type { Web } from "./ports/web.ts";
import { version } from "./version.ts";

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
    const web = createWeb({ rules: rulesOf(config.web) });
    let address = "";
    const addresses = { service: () => config.publicUrl ?? address, cdn: config.cdnUrl };
    const storage = openStorage(config);
    const parts = { database, secret, now, log, built, web, storage, addresses };
    const { platform, jobs, controls } = build(parts);
    const { host, port } = options.listen ?? config;
    const face = openFaces({ config, log, platform, database, controls, built });
    address = await face.listen(host, port);
    if (works) {
      jobs.start();
    }
    return {
      address,
      jobs,
      database,
      async [Symbol.asyncDispose]() {
        await face.close();
        await jobs.stop(graceMs);
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
  readonly now: Clock;
  readonly log: Log;
  readonly built: Modules;
  readonly web: Web;
  readonly storage: Storage;
  readonly addresses: World["addresses"];
}

/** Files stand in the data folder, or in a bucket whose uploads are put together there. */
function openStorage({ dataDir, s3 }: Config): Storage {
  const folder = join(dataDir, "files");
  return s3 ? createS3Storage(s3, join(folder, "arriving")) : createDiskStorage(folder);
}

/** Ports, jobs and platform, each given what it needs of the others. */
function build({ built, ...given }: Parts) {
  const { database, now, log } = given;
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
  const jobs = createJobs({ database, now, definitions, log });
  const channels = { simulator: simulator.channel };
  const listeners = listenersOf(built);
  const world: World = { ...given, jobs, channels, listeners };
  const platform = createPlatform(world, built);
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
  readonly platform: Platform;
  readonly database: Database;
  readonly controls: readonly ControlRoute[];
  readonly built: Modules;
}

/** REST and MCP on one port; MCP calls the REST face of this same process, with the caller's key. */
function openFaces({ config, log, platform, database, controls, built }: FaceParts) {
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
