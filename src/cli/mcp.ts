/** `tidings mcp`: MCP on stdin and stdout, in front of a remote service or the embedded one. */
import { allScopes } from "../../tools/contract/index.ts";
import { createClient } from "../client/index.ts";
import { appSecrets, type Config, readConfig } from "../config/index.ts";
import { guardStdout, type StdioConnection, serveOverStdio } from "../mcp/stdio.ts";
import { createToolFilter, discoverAccess, tools } from "../mcp/tool-list/index.ts";
import type { Log } from "../ports/telemetry/log.ts";
import { openDataFolder } from "./data-folder/data-folder.ts";
import type { Instance } from "./data-folder/instance.ts";
import { embeddedTools } from "./embedded-tools.ts";
import { describeFirstStart } from "./first-start.ts";
import { createLazyLog } from "./lazy-log.ts";
import { rememberAccess } from "./remembered-access.ts";
import { version } from "./version.ts";

export async function runMcp(): Promise<void> {
  guardStdout();
  const { config, warnings } = readConfig();
  const log = createLazyLog(config.logLevel, appSecrets(config));
  for (const warning of warnings) {
    log.warn({}, warning);
  }
  const { ended } = config.upstream
    ? serveUpstream(config, config.upstream, log)
    : await serveEmbedded(config, log);
  process.on("SIGTERM", () => process.exit(0));
  process.on("SIGINT", () => process.exit(0));
  await ended;
  // Exiting now is safe: accepted calls are in the database, and other calls had no effect.
  process.exit(0);
}

function serveUpstream(config: Config, { baseUrl, key }: { baseUrl: string; key: string }, log: Log) {
  const client = createClient({ baseUrl, key, userAgent: `tidings-mcp/${version}` });
  const { scopes } = config;
  const remembered = rememberAccess({ baseUrl, key });
  const discover = async () => {
    const access = await discoverAccess(client, log);
    if (access) {
      remembered.write(access);
    }
    return access;
  };
  const options = { ...sharedOptions(config), client, log };
  return scopes
    ? serveOverStdio({ ...options, knownAccess: { scopes: new Set(scopes) } })
    : serveOverStdio({ ...options, knownAccess: remembered.read(), discoverAccess: discover });
}

function sharedOptions({ toolFilter, resultLimit, uploadRoot }: Config) {
  return { version, toolFilter: createToolFilter(tools, toolFilter), resultLimit, uploadRoot };
}

/** Answers tools/list at once and starts the service afterwards; calls wait for it. */
async function serveEmbedded(config: Config, log: Log): Promise<StdioConnection> {
  const settings = sharedOptions(config);
  const folder = await openDataFolder(config.dataDir);
  let starting: Promise<Instance> | undefined;
  const instance = () => {
    starting ??= import("./data-folder/instance.ts").then(({ openInstance }) =>
      openInstance({
        config,
        folder,
        log,
        listen: { host: "127.0.0.1", port: 0 },
        onLost: () => process.exit(1),
        onFirstStart: (created) => console.error(describeFirstStart(created)),
      }),
    );
    return starting;
  };
  const client = createClient({
    baseUrl: async () => (await instance()).address(),
    key: () => folder.credential(),
    isDirect: true,
    userAgent: `tidings-mcp/${version}`,
  });
  const access = { scopes: new Set(config.scopes ?? allScopes) };
  return serveOverStdio({
    ...settings,
    client,
    log,
    knownAccess: access,
    async discoverAccess() {
      await startInstance(instance);
      return access;
    },
    availableTools: new Set(embeddedTools),
  });
}

async function startInstance(instance: () => Promise<Instance>): Promise<void> {
  try {
    await instance();
  } catch (error) {
    console.error(`tidings: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
}
