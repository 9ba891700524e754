/** docs/reference/settings.md: every setting with its default. */
import { settings } from "../../src/config/index.ts";
import { code, type Page, table } from "./markdown.ts";

export function settingsPage(): Page {
  const rows = settings.map((setting) => [code(setting.name), code(setting.default), setting.description]);
  const body = `# Settings

Settings are environment variables, read once at the start. An empty value counts as not set. A wrong value stops the start with one line that names the setting. So does an unknown name that begins with \`TIDINGS_\` and is near to a setting's, because ignoring a misspelt setting could remove a protection; any other unknown name is logged as a warning. \`tidings --help\` prints the same list.

${table(["Setting", "Default", "What it is"], rows)}`;
  return { source: "src/config/", body };
}
