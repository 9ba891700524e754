/**
 * Runs a command of the operator in the service of this machine.
 *
 * With the embedded database, the process that owns the data folder runs the command. If there is no such
 * process, and with PostgreSQL, the service runs here for the command, without jobs.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ErrorBody } from "../../../tools/contract/index.ts";
import { type Config, logSettings, readConfig } from "../../config/index.ts";
import { CommandError, describeField, UsageError } from "../commands/command-error.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { type DataFolder, openDataFolder } from "../data-folder/data-folder.ts";
import { describeFirstStart } from "../data-folder/first-start.ts";
import { createLazyLog, silentLog } from "../lazy-log.ts";

/** The same as in `platform/operations/operator/machine-route.ts`, which would load the service. */
const commandsPath = "/data-folder/commands/";

/**
 * Sends a command and returns its data.
 * @throws if the service rejects it; UsageError for an invalid input.
 */
export type CommandSender = (command: string, input: object) => Promise<unknown>;

/** The service in which the commands run. */
export interface CommandService {
  /** Whether another process runs it. Otherwise it runs here, for the command alone. */
  readonly runsElsewhere: boolean;
  readonly config: Config;
  readonly folder: DataFolder;
}

/** Opens the service, calls `work` with a function that sends commands, and closes the service. */
export async function withService<Result>(
  options: CommandOptions,
  work: (send: CommandSender, service: CommandService) => Promise<Result>,
): Promise<Result> {
  const { config } = readConfig(undefined, settingsOf(options));
  if (config.upstream) {
    throw new Error("This command works on the machine of the service: unset TIDINGS_BASE_URL.");
  }
  requireStarted(config);
  await requireMigrated(config);
  // Imported here because it loads the whole service, which the bundle that only forwards does not contain.
  const { openInstance } = await import("../data-folder/instance.ts");
  const folder = await openDataFolder(config.dataDir);
  await using instance = await openInstance({
    config,
    folder,
    log: createLazyLog(logSettings(config)),
    runsJobs: false,
    listen: { host: "127.0.0.1", port: 0 },
    onLost: () => process.exit(1),
    onFirstStart: (created) => console.error(describeFirstStart(created)),
  });
  return await work(
    async (command, input) => sendCommand(await instance.address(), folder, { command, input }),
    { runsElsewhere: instance.role === "follower", config, folder },
  );
}

const pageSize = 100;

interface Paging {
  readonly page: number;
  readonly per_page: number;
}

/** The records of all pages. */
export async function sendPages<Item>(
  readPage: (paging: Paging) => Promise<{ readonly data: readonly Item[] }>,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for (let page = 1; ; page += 1) {
    const { data } = await readPage({ page, per_page: pageSize });
    found.push(...data);
    if (data.length < pageSize) {
      return found;
    }
  }
}

/**
 * @throws if the data folder has no database: with a misspelt path, another organization would be created
 *   there.
 */
export function requireStarted({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl === undefined && !existsSync(join(dataDir, "database"))) {
    throw new Error(
      `No service was started in ${dataDir} yet. Set TIDINGS_DATA_DIR to its folder, or run tidings serve.`,
    );
  }
}

/**
 * @throws if no service was started on PostgreSQL, where the command would create an organization, or if
 *   migrations are pending, which it would run.
 */
async function requireMigrated(config: Config): Promise<void> {
  const { databaseUrl: url, dataDir, databaseStartWaitMs: waitMs } = config;
  if (url === undefined) {
    return;
  }
  // Imported here because the bundle that only forwards does not contain the database.
  const [{ openDatabase }, { readMigrationState }, { readSetting }] = await Promise.all([
    import("../../database/connect.ts"),
    import("../../database/migrate.ts"),
    import("../../platform/foundation/settings.ts"),
  ]);
  await using database = await openDatabase({ url, dataDir, poolSize: 1, waitMs, log: silentLog });
  const { pending, hasTables } = await readMigrationState(database.queries);
  if (!hasTables || (await readSetting(database, "first_organization")) === undefined) {
    throw new Error(
      "No service was started on this database yet. Set DATABASE_URL to the service's, or run tidings serve.",
    );
  }
  if (pending.length > 0) {
    throw new Error(
      `This version has migrations that have not run on this database, such as ${pending[0]}. Run tidings upgrade first, or use the version of the service.`,
    );
  }
}

/**
 * Sends a command to the service at this address, which is known to have the key of the folder.
 * @throws as `CommandSender`.
 */
export async function sendCommand(
  address: string,
  folder: DataFolder,
  { command, input }: { readonly command: string; readonly input: object },
): Promise<unknown> {
  const answer = await fetch(address + commandsPath + command, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": await folder.credential() },
    body: JSON.stringify(input),
    redirect: "error",
  });
  const body: unknown = await answer.json().catch(() => undefined);
  if (answer.ok) {
    return z.object({ data: z.unknown() }).parse(body).data;
  }
  throw toError(answer.status, body, folder.path);
}

function toError(status: number, body: unknown, folder: string): Error {
  const parsed = ErrorBody.safeParse(body);
  if (!parsed.success) {
    return new Error(`The service answered ${status} without an explanation.`);
  }
  const { error } = parsed.data;
  const { code, message, fix = "", details = [] } = error;
  const known = explanations[code]?.(folder);
  if (known !== undefined) {
    return new CommandError(known, { facts: { code } });
  }
  const fields = details.map((detail) => describeField({ ...detail, field: toOption(detail.field) }));
  const text = fields.length > 0 ? fields.join(" ") : `${message} ${fix}`.trim();
  return status === 400 ? new UsageError(text, { facts: error }) : new CommandError(text, { facts: error });
}

const explanations: Readonly<Record<string, (folder: string) => string>> = {
  credential_invalid: (folder) =>
    `The key in ${folder}/credential was deleted. Delete the file and restart the service: a new one is made.`,
  route_not_found: () => "The running service is of an older version: restart it, then try again.",
  user_exists: () => "A user with this e-mail address already exists. Use another address.",
  user_not_found: () => "There is no active user with this e-mail address.",
  organization_not_found: () => "There is no organization with this id. Find it with: tidings orgs list",
  api_key_not_found: () =>
    "The organization has no key with this id. Find it with: tidings keys list, and --organization for another one.",
};

/** The option that a field belongs to: `owner.email` is `--owner-email`. */
function toOption(field: string): string {
  return `--${field.replace(/[._]/g, "-")}`;
}
