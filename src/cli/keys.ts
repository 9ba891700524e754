/** `tidings keys create`: makes an API key on the service's machine, for example when the first one is lost. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { allScopes, readScope, type Scope } from "../../tools/contract/index.ts";
import { appSecrets, type Config, readConfig } from "../config/index.ts";
import { openDataFolder } from "./data-folder.ts";
import { describeFirstStart } from "./first-start.ts";
import { createLazyLog } from "./lazy-log.ts";

/** The options as they were given. */
export interface KeyOptions {
  readonly name?: string | undefined;
  readonly scopes?: string | undefined;
  readonly "expires-in-days"?: string | undefined;
}

interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires_at?: string;
}

/** As in `platform/api-keys.ts`, which loads the service. */
const keysPath = "/data-folder/keys";
const dayMs = 24 * 3_600_000;
const maxDays = 36_500;

export async function runKeysCreate(options: KeyOptions): Promise<void> {
  const newKey = readOptions(options, new Date());
  const { config } = readConfig();
  if (config.upstream) {
    throw new Error("tidings keys create works on the machine of the service: unset TIDINGS_BASE_URL.");
  }
  requireStarted(config);
  const { id, secret_key } = await createKey(config, newKey);
  const expiry = newKey.expires_at === undefined ? "never" : newKey.expires_at;
  console.log(
    [
      "The key is shown only now.",
      "",
      `  API key   ${secret_key}`,
      `  Id        ${id}`,
      `  Name      ${newKey.name}`,
      `  Scopes    ${newKey.scopes.join(", ")}`,
      `  Expires   ${expiry}`,
    ].join("\n"),
  );
}

/** @throws if the data folder has no database: with a misspelt path, another organization would be created there. */
function requireStarted({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl === undefined && !existsSync(join(dataDir, "database"))) {
    throw new Error(
      `No service was started in ${dataDir} yet. Set TIDINGS_DATA_DIR to its folder, or run tidings serve.`,
    );
  }
}

/** Sends the request to the running owner of the data folder; without one, the service runs here meanwhile. */
async function createKey(config: Config, newKey: NewKey): Promise<{ id: string; secret_key: string }> {
  // It loads the whole service, which the bundle that only forwards does not contain.
  const { openInstance } = await import("./instance.ts");
  const folder = await openDataFolder(config.dataDir);
  await using instance = await openInstance({
    ...{ config, folder, log: createLazyLog(config.logLevel, appSecrets(config)), runsJobs: false },
    listen: { host: "127.0.0.1", port: 0 },
    onLost: () => process.exit(1),
    onFirstStart: (created) => console.log(describeFirstStart(created)),
  });
  const answer = await fetch((await instance.address()) + keysPath, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": await folder.credential() },
    body: JSON.stringify(newKey),
    redirect: "error",
  });
  if (answer.status === 401) {
    throw new Error(
      `The key in ${folder.path}/credential was deleted. Delete the file and restart the service: a new one is made.`,
    );
  }
  if (answer.status === 404) {
    throw new Error("The running service is of an older version: restart it, then try again.");
  }
  if (answer.status !== 201) {
    throw new Error(`The service answered ${answer.status}: ${await answer.text()}`);
  }
  // The answer of our own route, whose server has proved that it has the folder's key.
  return (await answer.json()) as { id: string; secret_key: string };
}

/** @throws if an option is invalid. */
function readOptions(options: KeyOptions, now: Date): NewKey {
  const name = z
    .string()
    .min(1)
    .max(255)
    .safeParse(options.name ?? "Made with tidings keys create");
  if (!name.success) {
    throw new Error("--name takes 1 to 255 characters.");
  }
  const days = z.coerce
    .number()
    .int()
    .min(1)
    .max(maxDays)
    .safeParse(options["expires-in-days"] ?? 1);
  if (!days.success) {
    throw new Error(`--expires-in-days takes a whole number from 1 to ${maxDays}.`);
  }
  const expiry = new Date(now.getTime() + days.data * dayMs).toISOString();
  const hasExpiry = options["expires-in-days"] !== undefined;
  return { name: name.data, scopes: readScopes(options.scopes), ...(hasExpiry && { expires_at: expiry }) };
}

function readScopes(list: string | undefined): readonly Scope[] {
  const names = list?.split(",").map((name) => name.trim()) ?? allScopes;
  return names.map((name) => {
    const scope = readScope(name);
    if (scope === undefined) {
      throw new Error(`--scopes takes scopes separated by commas, of: ${allScopes.join(", ")}.`);
    }
    return scope;
  });
}
