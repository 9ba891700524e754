/** The help of the program at each level, and what it prints for arguments that it does not know. */
import { describe, expect, test } from "vitest";
import { commandGroups, commands } from "../src/cli/commands/table.ts";
import { settings } from "../src/config/index.ts";
import { runCommand } from "./support/command.ts";

async function helpOf(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await runCommand(args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

describe("help", () => {
  test("of the program has every command with its summary, and no line over 104 columns", async () => {
    const help = await helpOf("--help");
    const words = help.replaceAll(/\s+/g, " ");
    for (const [name, { summary }] of Object.entries(commands)) {
      expect(words).toContain(`${name} ${summary}`);
    }
    for (const { title } of commandGroups) {
      expect(help.split("\n")).toContain(title);
    }
    expect(help.split("\n").filter((line) => line.length > 104)).toEqual([]);
    expect(await helpOf()).toBe(help);
    expect(await helpOf("help")).toBe(help);
  });

  test.each(Object.entries(commands))("of %s has its arguments and its options", async (name, command) => {
    const help = await helpOf(...name.split(" "), "--help");
    const usage = ["tidings", name, ...(command.arguments ?? []).map((each) => `<${each}>`)].join(" ");
    expect(help.split("\n")[0]).toBe(`Usage: ${usage} [options]`);
    const options = [...help.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, option]) => option);
    expect(options).toEqual(Object.keys(command.options ?? {}));
    expect(await helpOf("help", ...name.split(" "))).toBe(help);
  });

  test("of a group has its commands", async () => {
    const help = await helpOf("keys", "--help");
    expect([...help.matchAll(/^ {2}(keys \w+) /gm)].map(([, name]) => name)).toEqual([
      "keys create",
      "keys list",
      "keys revoke",
    ]);
  });

  test("of the settings has each once, below its subject", async () => {
    const help = await helpOf("help", "settings");
    const names = [...help.matchAll(/^ {2}([A-Z]\w+)/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual(settings.map(({ name }) => name).toSorted());
    const subject = help.split("\n").indexOf("Retention");
    expect(help.split("\n")[subject + 2]).toBe("  TIDINGS_RETENTION_RECEIPTS_DAYS (90)");
  });
});

test.each([
  ["keyz", 'There is no command "keyz". Did you mean tidings keys?'],
  ["sevre", 'There is no command "sevre". Did you mean tidings serve?'],
  ["keys lst", 'There is no command "keys lst". Did you mean tidings keys list?'],
  ["frobnicate", 'There is no command "frobnicate". Run tidings --help.'],
  ["help keyz", 'There is no command "keyz". Did you mean tidings keys?'],
  ["serve --prot 1", "There is no option --prot. Did you mean --port?"],
  ["serve --zzzzzzzz", "There is no option --zzzzzzzz. Run tidings serve --help."],
  [
    "serve --log-level debug",
    "There is no option --log-level. Set the environment variable TIDINGS_LOG_LEVEL.",
  ],
  ["serve --data-dir=", "--data-dir is empty. Run tidings serve --help."],
  [
    "backup file --recipient age1a --recipient age1b",
    "--recipient is given more than once. Run tidings backup --help.",
  ],
  ["serve --port", "Option '--port <value>' argument missing. Run tidings serve --help."],
  ["listen --port 1", "--port is an option of tidings serve, not of tidings listen."],
])("tidings %s exits with 2 and names what was probably meant", async (args, message) => {
  expect(await runCommand(args.split(" "))).toEqual({
    status: 2,
    stdout: "",
    stderr: `tidings: ${message}\n`,
  });
});

test("each wrong setting has a line, and options take the place of settings", async () => {
  expect(await runCommand(["serve", "--port", "70000"], { PORT: "3000", HOST: "a b" })).toEqual({
    status: 1,
    stdout: "",
    stderr:
      "tidings: HOST takes a host name or an IP address.\ntidings: PORT takes a whole number from 0 to 65535.\n",
  });
});
