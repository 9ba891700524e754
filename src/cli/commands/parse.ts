/** Parses the arguments of the program: finds the command, and checks its options and its arguments. */
import { parseArgs } from "node:util";
import type { Command } from "./command.ts";
import { UsageError } from "./command-error.ts";
import { usageOf } from "./help.ts";
import { type CommandOptions, type OptionName, optionTypes } from "./options.ts";
import { commands } from "./table.ts";

export interface ParsedArguments {
  /** The words that are not options. */
  readonly words: readonly string[];
  readonly options: CommandOptions;
  readonly wantsHelp: boolean;
  readonly wantsVersion: boolean;
}

export interface FoundCommand {
  readonly name: string;
  readonly command: Command;
  readonly args: readonly string[];
}

/** @throws UsageError if an option does not exist, has no value or an empty one, or has several. */
export async function parseArguments(args: string[]): Promise<ParsedArguments> {
  const types = {
    ...optionTypes,
    help: { type: "boolean", short: "h" },
    version: { type: "boolean", short: "v" },
  } as const;
  try {
    const parsed = parseArgs({ args, allowPositionals: true, options: types, tokens: true });
    const { values, positionals, tokens } = parsed;
    requireOneValue(tokens.filter((token) => token.kind === "option"));
    const { help = false, version = false, ...options } = values;
    // parseArgs has checked the names and types.
    return { words: positionals, options: options as CommandOptions, wantsHelp: help, wantsVersion: version };
  } catch (error) {
    throw new UsageError(await explain(error, args), { cause: error });
  }
}

interface GivenOption {
  readonly name: string;
  /** Undefined for a flag. */
  readonly value?: string | undefined;
}

/** `parseArgs` accepts an empty value, which selects the default, and takes the last of several. */
function requireOneValue(given: readonly GivenOption[]): void {
  const withValue = given.filter(({ value }) => value !== undefined);
  for (const [place, { name, value }] of withValue.entries()) {
    if (value?.trim() === "") {
      throw new Error(`--${name} is empty`);
    }
    if (withValue.findIndex((other) => other.name === name) < place) {
      throw new Error(`--${name} is given more than once`);
    }
  }
}

async function explain(error: unknown, args: readonly string[]): Promise<string> {
  const reason = error instanceof Error ? error.message : String(error);
  const [, unknown] = /Unknown option '-{0,2}([^']+)'/.exec(reason) ?? [];
  const firstOption = args.findIndex((arg) => arg.startsWith("-"));
  const found = matchCommand(args.slice(0, firstOption));
  const seeHelp = `Run ${found ? `tidings ${found.name}` : "tidings"} --help.`;
  if (unknown === undefined) {
    return `${reason.split(".")[0]}. ${seeHelp}`;
  }
  const setting = await findSetting(unknown);
  const nearest = await findNearest(unknown, Object.keys(found?.command.options ?? optionTypes));
  const hint = nearest === undefined ? seeHelp : `Did you mean --${nearest}?`;
  return `There is no option --${unknown}. ${setting ? `Set the environment variable ${setting}.` : hint}`;
}

/** The setting that an option such as `--log-level` probably means. */
async function findSetting(option: string): Promise<string | undefined> {
  const { settings } = await import("../../config/index.ts");
  const name = option.replaceAll("-", "_").toUpperCase();
  return settings.find((setting) => [name, `TIDINGS_${name}`].includes(setting.name))?.name;
}

/** Imported only for an error: it loads the declarations of the API. */
async function findNearest(name: string, known: readonly string[]): Promise<string | undefined> {
  const { nearestName } = await import("../../../tools/contract/index.ts");
  return nearestName(name, known);
}

/** Finds the command whose name is the first one or two words; the remaining words are its arguments. */
function matchCommand(words: readonly string[]): FoundCommand | undefined {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(" ");
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command) {
      return { name, command, args: words.slice(length) };
    }
  }
  return undefined;
}

/** The commands that begin with this word, such as `keys`. */
export function commandsOf(word: string | undefined): string[] {
  return Object.keys(commands).filter((name) => name.startsWith(`${word} `));
}

/** @throws UsageError that names the nearest command. */
export async function findCommand(words: readonly string[]): Promise<FoundCommand> {
  const found = matchCommand(words);
  if (found) {
    return found;
  }
  const group = commandsOf(words[0]);
  const name = words.slice(0, group.length > 0 ? 2 : 1).join(" ");
  // The word of the group is left out, because it would make other names similar.
  const prefix = group.length > 0 ? `${words[0]} ` : "";
  const known = group.length > 0 ? group.map((each) => each.slice(prefix.length)) : firstWords();
  const nearest = await findNearest(name.slice(prefix.length), known);
  const list = group.length > 0 ? `Commands: ${group.join(", ")}.` : "Run tidings --help.";
  const hint = nearest === undefined ? list : `Did you mean tidings ${prefix}${nearest}?`;
  throw new UsageError(`There is no command "${name}". ${hint}`);
}

function firstWords(): string[] {
  return [...new Set(Object.keys(commands).map((name) => name.split(" ")[0] ?? name)), "help"];
}

/** @throws UsageError if an option belongs to another command, or an argument is missing or too many. */
export function requireFitting({ name, command, args }: FoundCommand, options: CommandOptions): void {
  const has = (other: Command, option: string) => Object.hasOwn(other.options ?? {}, option);
  // The keys of `options` are names of options.
  const foreign = (Object.keys(options) as OptionName[]).find((option) => !has(command, option));
  if (foreign !== undefined) {
    const owner = Object.entries(commands).find(([, other]) => has(other, foreign));
    throw new UsageError(`--${foreign} is an option of tidings ${owner?.[0]}, not of tidings ${name}.`);
  }
  const { arguments: expected = [] } = command;
  if (args.length !== expected.length) {
    const list = expected.length === 0 ? "no arguments" : expected.map((one) => `<${one}>`).join(" ");
    throw new UsageError(`tidings ${name} takes ${list}. Run ${usageOf(name, {})} --help.`);
  }
}
