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

  keys create
            Make an API key on the machine of the service, while it runs or not, for example when the
            first key is lost. The key is printed once.

      --forward-to <address>   Where listen sends the events.
      --name <text>            Name of the key that keys create makes.
      --scopes <list>          Its scopes, separated by commas. Default: all.
      --expires-in-days <n>    When it expires. Default: never.
  -h, --help     Show this.
  -v, --version  Show the version.

Settings are environment variables:
`;

const commandOptions = {
  "forward-to": { type: "string" },
  name: { type: "string" },
  scopes: { type: "string" },
  "expires-in-days": { type: "string" },
} as const;

type OptionName = keyof typeof commandOptions;
type Options = { readonly [Name in OptionName]?: string | undefined };

interface Command {
  readonly options?: readonly OptionName[];
  run(options: Options): Promise<void>;
}

const commands: Readonly<Record<string, Command>> = {
  help: { run: help },
  version: { run: async () => console.log(version) },
  serve: { run: async () => (await import("./serve.ts")).runServe() },
  mcp: { run: async () => (await import("./mcp.ts")).runMcp() },
  listen: {
    options: ["forward-to"],
    run: async (options) => (await import("./listen.ts")).runListen(options["forward-to"]),
  },
  "keys create": {
    options: ["name", "scopes", "expires-in-days"],
    run: async (options) => (await import("./keys.ts")).runKeysCreate(options),
  },
};

startCompileCache();
await main(process.argv.slice(2)).catch(reportAndExit);

async function main(args: string[]): Promise<void> {
  const {
    values: { help: wantsHelp, version: wantsVersion, ...options },
    positionals,
  } = parseArguments(args);
  if (wantsVersion) {
    console.log(version);
    return;
  }
  const name = positionals.join(" ");
  if (wantsHelp || name === "") {
    await help();
    return;
  }
  const command = commands[name];
  if (!command) {
    throw new Error(`There is no command "${name}". Run tidings --help.`);
  }
  for (const option of Object.keys(options)) {
    const owner = Object.entries(commands).find(([, { options = [] }]) =>
      options.some((own) => own === option),
    );
    if (owner?.[1] !== command) {
      throw new Error(`--${option} is an option of tidings ${owner?.[0]}, not of tidings ${name}.`);
    }
  }
  await command.run(options);
}

function parseArguments(args: string[]) {
  const options = {
    help: { type: "boolean", short: "h" },
    version: { type: "boolean", short: "v" },
    ...commandOptions,
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
  const width = Math.max(...settings.map(({ name }) => name.length));
  const rows = settings.map(({ name, description, default: value }) => {
    const suffix = value === "" ? "" : ` (${value})`;
    return `  ${name.padEnd(width)} ${description}${suffix}`;
  });
  console.log(usage + rows.join("\n"));
}

function reportAndExit(error: unknown): void {
  console.error(`tidings: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
