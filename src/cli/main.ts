/** The command line: parses the arguments and runs the command. */
import { CommandError } from "./commands/command-error.ts";
import { commandHelp, groupHelp, helpTopics, programHelp } from "./commands/help.ts";
import { commandsOf, findCommand, parseArguments, requireFitting } from "./commands/parse.ts";
import { version } from "./version.ts";

/** Parses the arguments and runs the command. @throws UsageError if the arguments are invalid. */
export async function main(args: string[]): Promise<void> {
  const { words, options, wantsHelp, wantsVersion } = await parseArguments(args);
  const [first, ...others] = words;
  if (wantsVersion || first === "version") {
    console.log(version);
  } else if (first === undefined || first === "help") {
    console.log(await helpOn(others));
  } else if (wantsHelp) {
    console.log(await helpOn(words));
  } else {
    const found = await findCommand(words);
    requireFitting(found, options);
    await found.command.run(options, found.args);
  }
}

/** The help on a command, on a group of commands, on a topic or, without words, on the program. */
async function helpOn(words: readonly string[]): Promise<string> {
  const [first] = words;
  if (first === undefined) {
    return programHelp();
  }
  const topic = Object.hasOwn(helpTopics, first) ? helpTopics[first] : undefined;
  if (topic) {
    return await topic();
  }
  if (words.length === 1 && commandsOf(first).length > 0) {
    return groupHelp(first);
  }
  const { name, command } = await findCommand(words);
  return commandHelp(name, command);
}

/** What the program prints for an error, and the code with which it exits. */
export function describeExit(
  error: unknown,
  args: readonly string[],
): { readonly message: string; readonly code: number } {
  const reason = error instanceof Error ? error.message : String(error);
  const { facts = { code: "command_failed" }, exitCode = 1 } = error instanceof CommandError ? error : {};
  const message = args.includes("--json")
    ? JSON.stringify({ error: { message: reason, ...facts } }, null, 2)
    : reason.replaceAll(/^/gm, "tidings: ");
  return { message, code: exitCode };
}
