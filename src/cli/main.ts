/** The command line: parses the arguments and runs the command. */
import { parseArgs } from "node:util";
import { startCompileCache } from "./compile-cache.ts";
import { version } from "./version.ts";

const usage = `Tidings ${version}: business messaging that an AI assistant can operate.

Usage: tidings <command>

  serve     Serve REST (/v1) and MCP (/mcp) over HTTP, with an embedded database or DATABASE_URL.
  mcp       Serve MCP on stdin and stdout. With TIDINGS_BASE_URL and TIDINGS_API_KEY it forwards to
            that service; without them it runs the embedded one and shares it with other processes.
  listen    Forward this organization's events to a program under development, in the form of webhooks:
            tidings listen --forward-to http://127.0.0.1:4000/hooks. Reads from the service at
            TIDINGS_BASE_URL with TIDINGS_API_KEY or, without them, from the one on this machine.

      --forward-to <address>   Where listen sends the events.
  -h, --help     Show this.
  -v, --version  Show the version.

Settings are environment variables:
`;

const commands: Readonly<Record<string, (forwardTo?: string) => Promise<void>>> = {
  help,
  version: async () => console.log(version),
  serve: async () => (await import("./serve.ts")).runServe(),
  mcp: async () => (await import("./mcp.ts")).runMcp(),
  listen: async (forwardTo) => (await import("./listen.ts")).runListen(forwardTo),
};

startCompileCache();
await main(process.argv.slice(2)).catch(reportAndExit);

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments(args);
  if (values.version) {
    console.log(version);
    return;
  }
  const [name] = positionals;
  if (values.help || name === undefined) {
    await help();
    return;
  }
  const command = commands[name];
  if (!command || positionals.length > 1) {
    throw new Error(`There is no command "${positionals.join(" ")}". Run tidings --help.`);
  }
  const forwardTo = values["forward-to"];
  if (forwardTo !== undefined && name !== "listen") {
    throw new Error(`--forward-to is an option of tidings listen, not of tidings ${name}.`);
  }
  await command(forwardTo);
}

function parseArguments(args: string[]) {
  const options = {
    help: { type: "boolean", short: "h" },
    version: { type: "boolean", short: "v" },
    "forward-to": { type: "string" },
  } as const;
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    const hint = "Settings are environment variables, not options: tidings --help lists them.";
    throw new Error(`${error instanceof Error ? error.message.split(".")[0] : error}. ${hint}`, {
      cause: error,
    });
  }
}

async function help(): Promise<void> {
  const { settings } = await import("../config/index.ts");
  const rows = settings.map(({ name, description, default: value }) => {
    const suffix = value === "" ? "" : ` (${value})`;
    return `  ${name.padEnd(24)} ${description}${suffix}`;
  });
  console.log(usage + rows.join("\n"));
}

function reportAndExit(error: unknown): void {
  console.error(`tidings: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
