/** docs/reference/commands.md: the help of every command. */
import { commandHelp, programHelp } from "../../src/cli/commands/help.ts";
import { commands } from "../../src/cli/commands/table.ts";
import type { Page } from "./markdown.ts";

export function commandsPage(): Page {
  const sections = Object.entries(commands).map(
    ([name, command]) => `## tidings ${name}\n\n${text(commandHelp(name, command))}`,
  );
  const body = `# Commands

[The command line](../command-line.md) describes how they are used.

${[text(programHelp()), ...sections].join("\n\n")}`;
  return { source: "src/cli/commands/", body };
}

function text(help: string): string {
  return `\`\`\`text\n${help}\n\`\`\``;
}
