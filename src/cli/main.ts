/** The command line: parses the arguments and runs the command. */
import { parseArgs } from "node:util";
import {
  type EmulatorArguments,
  emulatorHelp,
  emulatorOptionTypes,
  readEmulatorOptions,
} from "./emulator/options.ts";
import { describeCommand, manageCommands } from "./manage/commands.ts";
import { type ManageOptions, optionTypes } from "./manage/options.ts";
import { UsageError } from "./manage/usage-error.ts";
import { mcpHelp, mcpOptionTypes, readChannelCohort } from "./mcp/options.ts";
import { version } from "./version.ts";

const usage = `Tidings ${version}: business messaging that an AI assistant can operate.

Usage: tidings <command>

  serve     Serve REST (/v1) and MCP (/mcp) over HTTP, with an embedded database or DATABASE_URL.
  mcp       Serve MCP on stdin and stdout. With TIDINGS_BASE_URL and TIDINGS_API_KEY it forwards to
            that service; without them it runs the embedded one and shares it with other processes.
            --channel also sends messages to the client as they arrive: tidings mcp --help.
  listen    Forward this organization's events to a program under development, in the form of webhooks:
            tidings listen --forward-to http://127.0.0.1:4000/hooks. Reads from the service at
            TIDINGS_BASE_URL with TIDINGS_API_KEY or, without them, from the one on this machine.

  whatsapp-emulator
            Emulate the WhatsApp Cloud API for development and tests: tidings whatsapp-emulator --help.

  orgs create | list, keys create | list | revoke, users create | reset-password
            Manage organizations, API keys and users on the machine of the service, while it runs or not.
            tidings <command> --help shows the options of one.

      --forward-to <address>   Where listen sends the events.
      --stop-with-parent       serve stops when the process that started it has ended, as npm start needs.
  -h, --help     Show this.
  -v, --version  Show the version.

Settings are environment variables:
`;

const commandOptions = {
  "forward-to": { type: "string" },
  "stop-with-parent": { type: "boolean" },
  ...mcpOptionTypes,
  ...optionTypes,
  ...emulatorOptionTypes,
} as const;

interface ServiceOptions {
  readonly "forward-to"?: string | undefined;
  readonly "stop-with-parent"?: boolean | undefined;
  readonly channel?: boolean | undefined;
  readonly cohort?: string | undefined;
}

type Options = ManageOptions & EmulatorArguments & ServiceOptions;

interface Command {
  readonly options?: readonly string[];
  /** The names of the command's arguments. */
  readonly arguments?: readonly string[];
  /** The help of the command, instead of the program's help. */
  readonly help?: string;
  run(options: Options, args: readonly string[]): Promise<void>;
}

const commands: Readonly<Record<string, Command>> = {
  help: { run: help },
  version: { run: async () => console.log(version) },
  serve: {
    options: ["stop-with-parent"],
    run: async (options) => (await import("./serve.ts")).runServe(options["stop-with-parent"]),
  },
  mcp: {
    options: Object.keys(mcpOptionTypes),
    help: mcpHelp,
    async run(options) {
      const cohort = readChannelCohort(options);
      await (await import("./mcp/mcp.ts")).runMcp(cohort);
    },
  },
  listen: {
    options: ["forward-to"],
    run: async (options) => (await import("./listen.ts")).runListen(options["forward-to"]),
  },
  "whatsapp-emulator": {
    options: Object.keys(emulatorOptionTypes),
    help: emulatorHelp,
    async run(options) {
      const settings = readEmulatorOptions(options);
      await (await import("./emulator/whatsapp-emulator.ts")).runWhatsappEmulator(settings);
    },
  },
  ...Object.fromEntries(
    Object.entries(manageCommands).map(([name, command]) => [
      name,
      { ...command, options: Object.keys(command.options), help: describeCommand(name, command) },
    ]),
  ),
};

/** Parses the arguments and runs the command. @throws UsageError if the arguments are invalid. */
export async function main(args: string[]): Promise<void> {
  const {
    values: { help: wantsHelp, version: wantsVersion, ...options },
    positionals,
  } = parseArguments(args);
  if (wantsVersion) {
    console.log(version);
    return;
  }
  if (positionals.length === 0) {
    await help();
    return;
  }
  const { name, command, args: given } = findCommand(positionals);
  if (wantsHelp) {
    await (command.help === undefined ? help() : console.log(command.help));
    return;
  }
  requireOptionsOf(name, command, Object.keys(options));
  requireArguments(name, command, given);
  await command.run(options, given);
}

/**
 * Finds the command whose name is the first one or two words; the remaining words are its arguments.
 * @throws UsageError
 */
function findCommand(words: readonly string[]) {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(" ");
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command) {
      return { name, command, args: words.slice(length) };
    }
  }
  const group = Object.keys(commands).filter((name) => name.startsWith(`${words[0]} `));
  const hint = group.length > 0 ? `Commands: ${group.join(", ")}.` : "Run tidings --help.";
  throw new UsageError(`There is no command "${words.slice(0, 2).join(" ")}". ${hint}`);
}

function requireOptionsOf(name: string, { options: known = [] }: Command, given: readonly string[]): void {
  const other = given.find((option) => !known.includes(option));
  if (other !== undefined) {
    const owner = Object.entries(commands).find(([, { options = [] }]) => options.includes(other));
    throw new UsageError(`--${other} is an option of tidings ${owner?.[0]}, not of tidings ${name}.`);
  }
}

function requireArguments(name: string, { arguments: known = [] }: Command, given: readonly string[]): void {
  if (given.length !== known.length) {
    const expected = known.length === 0 ? "no arguments" : known.map((one) => `<${one}>`).join(" ");
    throw new UsageError(`tidings ${name} takes ${expected}. Run tidings ${name} --help.`);
  }
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
    throw new UsageError(`${error instanceof Error ? error.message.split(".")[0] : error}. ${hint}`, {
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

/** What the program prints for an error, and the code with which it exits. */
export function describeExit(error: unknown): { readonly message: string; readonly code: number } {
  const reason = error instanceof Error ? error.message : String(error);
  return { message: `tidings: ${reason}`, code: error instanceof UsageError ? 2 : 1 };
}
