/** `tidings doctor`: checks the settings, this machine, the database and the running service. */
import { ConfigError, readConfig } from "../../config/index.ts";
import { createToolFilters, ToolFilterError, tools } from "../../mcp/tool-list/index.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { print } from "../commands/print.ts";
import { findDataFolder } from "../data-folder/data-folder.ts";
import { checkDatabase } from "./database.ts";
import { checkErasures } from "./erasures.ts";
import { about, type Finding } from "./finding.ts";
import { checkDisk, checkPort, checkVersions } from "./machine.ts";
import { checkService } from "./service.ts";

/** @throws Error if there is a problem, after all findings were printed. */
export async function runDoctor(options: CommandOptions): Promise<void> {
  const findings = [checkVersions(), ...(await checkSettings(options))];
  print(options.json, findings, () => findings.flatMap(describeFinding));
  const problems = findings.filter(({ status }) => status === "problem").length;
  if (problems > 0) {
    throw new Error(`${problems} ${problems === 1 ? "problem was" : "problems were"} found.`);
  }
}

async function checkSettings(options: CommandOptions): Promise<readonly Finding[]> {
  const { ok, warning, problem } = about("setting");
  try {
    const { config, warnings } = readConfig(undefined, settingsOf(options));
    // The start checks the names of tools after the other settings.
    createToolFilters(tools, config.toolFilter);
    const doubtful = warnings.map(({ message, fix }) => warning(message, fix));
    const settings = doubtful.length > 0 ? doubtful : [ok("All settings are valid.")];
    if (config.upstream) {
      return [...settings, ...(await checkService(config))];
    }
    const folder = await findDataFolder(config.dataDir);
    const disk = await checkDisk(folder.path);
    const { findings, processes } = await checkDatabase(config, folder, options.deep === true);
    const erasures = await checkErasures(config);
    const port = await checkPort(config, folder);
    return [
      ...settings,
      disk,
      ...findings,
      ...erasures,
      port,
      ...(await checkService(config, { processes })),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof ToolFilterError)) {
      throw error;
    }
    const fix = "Correct it. tidings help settings has all settings.";
    return error.message.split("\n").map((line) => problem(line, fix));
  }
}

function describeFinding({ status, check, message, fix }: Finding): string[] {
  const line = `${status.padEnd(9)}${check.padEnd(13)}${message}`;
  return fix === undefined ? [line] : [line, `${" ".repeat(22)}${fix}`];
}
