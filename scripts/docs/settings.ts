/** docs/reference/settings.md: every setting with its default, by subject. */
import { settingSubjects, settings } from "../../src/config/index.ts";
import { code, type Page, table } from "./markdown.ts";

export function settingsPage(): Page {
  const sections = settingSubjects.map((subject) => {
    const rows = settings
      .filter((setting) => setting.subject === subject)
      .map((setting) => [code(setting.name), code(setting.default), setting.description]);
    return `## ${subject}\n\n${table(["Setting", "Default", "What it is"], rows)}`;
  });
  const body = `# Settings

Settings are environment variables, read once at the start. An empty value counts as not set. Wrong values stop the start with one line for each, which names the setting. So do unknown names that begin with \`TIDINGS_\` and are near to a setting's, because ignoring a misspelt setting could remove a protection; any other unknown name is logged as a warning. \`tidings help settings\` prints the same list.

${sections.join("\n\n")}`;
  return { source: "src/config/", body };
}
