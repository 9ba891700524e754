/** `tidings serve`: runs the service over HTTP until a signal stops it. */
import { once } from "node:events";
import { createServer } from "node:net";
import { createLog } from "../../adapters/log/pino.ts";
import { type Config, logSettings, readConfig } from "../../config/index.ts";
import { createToolFilter, tools } from "../../mcp/tool-list/index.ts";
import type { BootstrapResult } from "../../platform/operations/bootstrap.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import { toAddress } from "../address.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { type DataFolder, openDataFolder } from "../data-folder/data-folder.ts";
import { describeFirstStart } from "../data-folder/first-start.ts";
import { type Instance, openInstance } from "../data-folder/instance.ts";
import { isTidings, provesItself } from "../data-folder/verify-server.ts";
import { createServerEntry } from "../mcp/server-entry.ts";
import { version } from "../version.ts";
import { createOwnerLink, mayPrintLink } from "./owner-link.ts";
import { closeProxy, createProxy } from "./proxy/index.ts";

export async function runServe(options: CommandOptions): Promise<void> {
  const { config, warnings } = readConfig(undefined, settingsOf(options));
  const log = createLog(logSettings(config));
  for (const { message } of warnings) {
    log.warn({}, message);
  }
  // Reports an unknown tool name before anything is opened.
  createToolFilter(tools, config.toolFilter);
  const folder = await openDataFolder(config.dataDir);
  const listen = { host: config.host, port: config.port };
  const onLost = () => {
    log.error({}, "the data folder was lost: stopping");
    process.exit(1);
  };
  let isFirstStart = false;
  const onFirstStart = (created: BootstrapResult) => {
    isFirstStart = true;
    console.log(describeFirstStart(created));
  };
  const [instance, { address, close }] = await explainListenError(listen, folder, async () => {
    await requireFreeAddress(listen);
    const opened = await openInstance({ config, folder, log, listen, onLost, onFirstStart });
    const own: Listener = { address: await opened.address(), close: async () => undefined };
    return [opened, opened.role === "owner" ? own : await serveProxy(opened, config)] as const;
  });
  const stop = stopOnSignal(async () => {
    await close();
    await instance[Symbol.asyncDispose]();
  }, log);
  if (options["stop-with-parent"] === true) {
    stopAfter(process.ppid, stop);
  }
  console.log(
    startMessage(address, instance, { dataDir: folder.path, isEmbedded: config.databaseUrl === undefined }),
  );
  if (isFirstStart && mayPrintLink(config, process.stdout.isTTY)) {
    const link = await createOwnerLink(address, folder, log);
    console.log(link === undefined ? "" : `\n${link}`);
  }
}

/**
 * Called before a first start creates credentials and prints them.
 * @throws the system's error if the address is in use.
 */
async function requireFreeAddress({ host, port }: { host: string; port: number }): Promise<void> {
  const probe = createServer().listen({ host, port });
  await once(probe, "listening");
  probe.close();
  await once(probe, "close");
}

interface Listener {
  readonly address: string;
  /** Waits for the requests that it forwards. The instance waits for its own. */
  close(): Promise<void>;
}

/** The same time as the service gives its own requests. */
const closeGraceMs = 10_000;

/** Another process owns the folder: this process listens on its own port and forwards requests. */
async function serveProxy(
  instance: Instance,
  { host, port, bodyLimit, trustedProxies }: Config,
): Promise<Listener> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const server = createProxy({
    address: () => instance.address(),
    bodyLimit,
    trustedProxies,
    stopping: signal,
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
  const bound = server.address();
  return {
    address: toAddress(host, typeof bound === "object" && bound !== null ? bound.port : port),
    async close() {
      stopping.abort();
      await closeProxy(server, closeGraceMs);
    },
  };
}

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Replaces the system's error by an error that says what to do. */
async function explainListenError<Result>(
  { host, port }: ListenAddress,
  folder: DataFolder,
  start: () => Promise<Result>,
): Promise<Result> {
  try {
    return await start();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE") {
      throw new Error(await describeTakenPort({ host, port }, folder), { cause: error });
    }
    if (code === "EADDRNOTAVAIL" || code === "EACCES") {
      throw new Error(`Can't listen on ${host}:${port} (${code}). Set HOST or PORT, or --host or --port.`, {
        cause: error,
      });
    }
    throw error;
  }
}

async function describeTakenPort({ host, port }: ListenAddress, folder: DataFolder): Promise<string> {
  const address = toAddress(host, port);
  const another = "Set PORT or --port to another one";
  // The port is checked before anything is created, so there may be no key.
  if (await provesItself(address, await folder.storedCredential())) {
    return `The service of ${folder.path} already runs, at ${address}. Use that one or end it. ${another} to run a second process on this folder.`;
  }
  return (await isTidings(address))
    ? `Port ${port} of ${host} is in use by a Tidings service of another data folder than ${folder.path}. ${another}, or TIDINGS_DATA_DIR to the folder of that service.`
    : `Port ${port} of ${host} is in use by another program. ${another}, or end that program.`;
}

/**
 * The first signal shuts down gracefully, and the second exits at once. Returns the function that both
 * signals call.
 */
function stopOnSignal(end: () => Promise<void>, log: Log): () => void {
  let isStopping = false;
  const stop = () => {
    if (isStopping) {
      process.exit(1);
    }
    isStopping = true;
    const begin = performance.now();
    log.info({}, "stopping: waiting for the requests and jobs that run");
    end().then(
      () => {
        const ms = Math.round(performance.now() - begin);
        log.info({ ms }, `stopped after ${(ms / 1_000).toFixed(1)} s`);
        process.exit(0);
      },
      (error: unknown) => {
        log.error({ err: error }, "could not stop cleanly");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  return stop;
}

/** How often to check whether the parent process still runs. */
const parentEveryMs = 500;

/**
 * `npm start` runs a shell between npm and this process. A signal ends the shell, which does not forward it.
 */
function stopAfter(parent: number, stop: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid !== parent || !isRunning(parent)) {
      clearInterval(timer);
      stop();
    }
  }, parentEveryMs);
  timer.unref();
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function startMessage(address: string, { role }: Instance, location: DataLocation): string {
  const database = location.isEmbedded ? "embedded database" : "PostgreSQL";
  const shared = role === "owner" ? "" : ", served by another process on this folder";
  return [
    `Tidings ${version}`,
    "",
    `  Console  ${address}/console/`,
    `  Docs     ${address}/docs/`,
    `  REST     ${address}/v1`,
    `  MCP      ${address}/mcp`,
    `  Data     ${location.dataDir} (${database}${shared})`,
    `  Key      shown at the first start; ${location.dataDir}/credential holds this machine's own`,
    "",
    "For an MCP client on this machine:",
    "",
    JSON.stringify(clientConfig(address, location), null, 2),
    "",
    `Over HTTP: ${address}/mcp with the header Authorization: Bearer <API key>.`,
  ].join("\n");
}

interface DataLocation {
  readonly dataDir: string;
  readonly isEmbedded: boolean;
}

function clientConfig(address: string, { dataDir, isEmbedded }: DataLocation) {
  return { mcpServers: { tidings: createServerEntry(isEmbedded ? { dataDir } : { address }) } };
}
