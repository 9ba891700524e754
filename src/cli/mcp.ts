/** `tidings mcp`: MCP on stdin and stdout, before a service elsewhere or the embedded one. */
import { allScopes } from "../../tools/contract/index.ts";
import { createClient } from "../client/index.ts";
import { type Config, readConfig, secretsOf } from "../config/index.ts";
import { createNarrowing } from "../mcp/narrow.ts";
import { learnAccess } from "../mcp/scopes.ts";
import { guardStdout, type StdioConnection, serveOverStdio } from "../mcp/stdio.ts";
import { tools } from "../mcp/tools.ts";
import type { Log } from "../ports/log.ts";
import { builtTools } from "./built-tools.ts";
import { openFolder } from "./data-folder.ts";
import { describeFirstStart } from "./first-start.ts";
import type { Instance } from "./instance.ts";
import { lazyLog } from "./lazy-log.ts";
import { version } from "./version.ts";

export async function mcp(): Promise<void> {
  guardStdout();
  const { config, warnings } = readConfig();
  const log = lazyLog(config.logLevel, secretsOf(config));
  for (const warning of warnings) {
    log.warn({}, warning);
  }
  const { ended } = config.upstream ? forward(config, config.upstream, log) : await embed(config, log);
  process.on("SIGTERM", () => process.exit(0));
  process.on("SIGINT", () => process.exit(0));
  await ended;
  // Whatever still runs is safe to leave: what was accepted is in the database, and the rest was not.
  process.exit(0);
}

function forward(config: Config, { baseUrl, key }: { baseUrl: string; key: string }, log: Log) {
  const client = createClient({ baseUrl, key, userAgent: `tidings-mcp/${version}` });
  const { scopes } = config;
  const learn = async () => (scopes ? { scopes: new Set(scopes) } : learnAccess(client, log));
  return serveOverStdio({ ...settingsOf(config), client, log, learnAccess: learn });
}

/** What both ways have in common. */
function settingsOf({ narrowing, resultLimit, uploadRoot }: Config) {
  return { version, narrowing: createNarrowing(tools, narrowing), resultLimit, uploadRoot };
}

/** The list is answered at once; the service starts behind it, and calls wait for it. */
async function embed(config: Config, log: Log): Promise<StdioConnection> {
  const settings = settingsOf(config);
  const folder = await openFolder(config.dataDir);
  let starting: Promise<Instance> | undefined;
  const instance = () => {
    starting ??= import("./instance.ts").then(({ openInstance }) =>
      openInstance({
        config,
        folder,
        log,
        listen: { host: "127.0.0.1", port: 0 },
        onLost: () => process.exit(1),
        onFirstStart: (made) => console.error(describeFirstStart(made)),
      }),
    );
    return starting;
  };
  const client = createClient({
    baseUrl: async () => (await instance()).address(),
    key: () => folder.credential(),
    userAgent: `tidings-mcp/${version}`,
  });
  const scopes = new Set(config.scopes ?? allScopes);
  const connection = serveOverStdio({
    ...settings,
    client,
    log,
    learnAccess: async () => ({ scopes }),
    built: new Set(builtTools),
  });
  setImmediate(() => void start(instance));
  return connection;
}

async function start(instance: () => Promise<Instance>): Promise<void> {
  try {
    await instance();
  } catch (error) {
    console.error(`tidings: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
}
