/** The texts of help, made from the table of commands and the list of settings. */
import { version } from "../version.ts";
import type { Command, Commands } from "./command.ts";
import { describeOption, type OptionName } from "./options.ts";
import { commandGroups, commands } from "./table.ts";

const width = 100;
const helpRow: Row = ["-h, --help", "Show this."];

/** A name and its meaning. */
type Row = readonly [string, string];

export function programHelp(): string {
  const options: readonly Row[] = [helpRow, ["-v, --version", "Show the version."]];
  const rows = [...commandGroups.flatMap((group) => rowsOf(group.commands)), ...options];
  const column = columnOf(rows);
  return [
    `Tidings ${version}: business messaging that an AI assistant can operate.`,
    "",
    "Usage: tidings <command> [options]",
    ...commandGroups.flatMap((group) => ["", group.title, ...list(rowsOf(group.commands), column)]),
    "",
    "Options",
    ...list(options, column),
    "",
    "tidings <command> --help shows the options of a command, and tidings help settings the settings, which",
    "are environment variables.",
  ].join("\n");
}

/** The help of the commands that begin with a word, such as `keys`. */
export function groupHelp(word: string): string {
  const members = Object.fromEntries(
    Object.entries(commands).filter(([name]) => name.startsWith(`${word} `)),
  );
  const rows = rowsOf(members);
  return [
    `Usage: tidings ${word} <command> [options]`,
    "",
    ...list(rows, columnOf(rows)),
    "",
    `tidings ${word} <command> --help shows the options of a command.`,
  ].join("\n");
}

export function commandHelp(name: string, { summary, notes = [], options = {}, ...rest }: Command): string {
  // The keys of `options` are names of options.
  const given = Object.entries(options).map(
    ([option, text]): Row => [describeOption(option as OptionName), text],
  );
  const rows = [...given, helpRow];
  const note = commandGroups.find((group) => Object.hasOwn(group.commands, name))?.note ?? [];
  const paragraphs = [summary, ...notes, note].flat().flatMap((text) => [...wrap(text, width), ""]);
  return [`Usage: ${usageOf(name, rest)} [options]`, "", ...paragraphs, ...list(rows, columnOf(rows))].join(
    "\n",
  );
}

/** What `tidings help` explains besides commands. */
export const helpTopics: Readonly<Record<string, () => Promise<string>>> = { settings: settingsHelp };

async function settingsHelp(): Promise<string> {
  const { settingSubjects, settings } = await import("../../config/index.ts");
  const sections = settingSubjects.map((subject) => {
    const entries = settings.filter((setting) => setting.subject === subject);
    const lines = entries.flatMap(({ name, default: value, description }) => [
      `  ${name}${value === "" ? "" : ` (${value})`}`,
      ...wrap(description, width - 6).map((line) => `      ${line}`),
    ]);
    return [subject, "", ...lines].join("\n");
  });
  return ["Settings are environment variables. Defaults are in parentheses.", ...sections].join("\n\n");
}

/** `tidings keys revoke <key id>` */
export function usageOf(name: string, { arguments: args = [] }: Pick<Command, "arguments">): string {
  return ["tidings", name, ...args.map((arg) => `<${arg}>`)].join(" ");
}

function rowsOf(members: Commands): Row[] {
  return Object.entries(members).map(([name, { summary }]) => [name, summary]);
}

function columnOf(rows: readonly Row[]): number {
  return Math.max(...rows.map(([name]) => name.length)) + 4;
}

/** Rows in two columns; the second one is wrapped. */
function list(rows: readonly Row[], column: number): string[] {
  return rows.flatMap(([name, meaning]) =>
    wrap(meaning, width - column).map((line, index) =>
      index === 0 ? `  ${name}`.padEnd(column) + line : " ".repeat(column) + line,
    ),
  );
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines;
}
