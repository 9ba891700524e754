/** `tidings mcp`: MCP on stdin and stdout, in front of a remote service or the embedded one. */
import { allScopes } from "../../../tools/contract/index.ts";
import { type Client, createClient } from "../../client/index.ts";
import { type Config, logSettings, readConfig } from "../../config/index.ts";
import type { HostChannel } from "../../mcp/host-channel/index.ts";
import { guardStdout, type StdioConnection, serveOverStdio } from "../../mcp/stdio/index.ts";
import { createToolFilter, discoverAccess, tools } from "../../mcp/tool-list/index.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { openDataFolder } from "../data-folder/data-folder.ts";
import { describeFirstStart } from "../data-folder/first-start.ts";
import type { Instance } from "../data-folder/instance.ts";
import { embeddedTools } from "../embedded-tools.ts";
import { createLazyLog } from "../lazy-log.ts";
import { version } from "../version.ts";
import { rememberAccess } from "./remembered-access.ts";

/** @param cohort the cohort whose messages the client is notified of. */
export async function runMcp(options: CommandOptions, cohort: string | undefined): Promise<void> {
  guardStdout();
  const { config, warnings } = readConfig(undefined, settingsOf(options));
  const log = createLazyLog(logSettings(config));
  for (const { message } of warnings) {
    log.warn({}, message);
  }
  const { ended } = config.upstream
    ? await serveUpstream(config, config.upstream, { log, cohort })
    : await serveEmbedded(config, { log, cohort });
  process.on("SIGTERM", () => process.exit(0));
  process.on("SIGINT", () => process.exit(0));
  await ended;
  // Exiting now is safe: accepted calls are in the database, and other calls had no effect.
  process.exit(0);
}

interface McpOptions {
  readonly log: Log;
  readonly cohort: string | undefined;
}

type Upstream = NonNullable<Config["upstream"]>;

async function serveUpstream(config: Config, { baseUrl, key }: Upstream, { log, cohort }: McpOptions) {
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
  const channel = await openHostChannelOf(client, cohort);
  const options = { ...sharedOptions(config), client, log, channel };
  return scopes
    ? serveOverStdio({ ...options, knownAccess: { scopes: new Set(scopes) } })
    : serveOverStdio({ ...options, knownAccess: remembered.read(), discoverAccess: discover });
}

/** Loaded only where it is wanted: it needs the declarations of operations, which are slow to load. */
async function openHostChannelOf(
  client: Client,
  cohort: string | undefined,
): Promise<HostChannel | undefined> {
  if (cohort === undefined) {
    return undefined;
  }
  const { openHostChannel } = await import("../../mcp/host-channel/index.ts");
  return openHostChannel({ client, cohort, report: (line) => console.error(`tidings: ${line}`) });
}

function sharedOptions({ toolFilter, resultLimit, uploadRoot }: Config) {
  return { version, toolFilter: createToolFilter(tools, toolFilter), resultLimit, uploadRoot };
}

/** Answers tools/list at once and starts the service afterwards; calls wait for it. */
async function serveEmbedded(config: Config, { log, cohort }: McpOptions): Promise<StdioConnection> {
  const settings = sharedOptions(config);
  const folder = await openDataFolder(config.dataDir);
  let starting: Promise<Instance> | undefined;
  const instance = () => {
    starting ??= import("../data-folder/instance.ts").then(({ openInstance }) =>
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
  if (cohort !== undefined) {
    // The channel calls the service before the connection opens. Here the start's own error is thrown.
    await instance();
  }
  return serveOverStdio({
    ...settings,
    client,
    log,
    channel: await openHostChannelOf(client, cohort),
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
