/** The data folder: which process owns it, where the owner listens, and the key that its processes share. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { access, constants, mkdir, readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  type ClaimOptions,
  claim,
  createFile,
  errorCode,
  type FolderOwner,
  type Ownership,
  readOwner,
  waitFor,
} from "../../database/ownership/index.ts";

export interface DataFolder {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /**
   * Takes ownership of the folder. Returns undefined while a running process owns it, including this process.
   */
  claim(options: ClaimOptions): Promise<Ownership | undefined>;
  owner(): Promise<FolderOwner | undefined>;
  /** Waits until the folder has no owner or the signal aborts. Does not keep the process alive. */
  waitForOwnerEnd(signal: AbortSignal): Promise<void>;
  /** The API key for calls between this folder's processes; created on first use. */
  credential(): Promise<string>;
  /** The same key; undefined if none was created yet. */
  storedCredential(): Promise<string | undefined>;
}

const pollMs = 500;

/** Opens the folder. If it is missing, creates it with access for its user only. */
export async function openDataFolder(dir: string): Promise<DataFolder> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await access(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new Error(
      `The data folder ${dir} can't be used (${errorCode(cause)}): choose a folder that is writable.`,
      { cause },
    );
  }
  return toDataFolder(await realpath(dir));
}

/** As `openDataFolder`, but a missing folder stays missing: it has no owner and no key. */
export async function findDataFolder(dir: string): Promise<DataFolder> {
  return existsSync(dir) ? await openDataFolder(dir) : toDataFolder(resolve(dir));
}

function toDataFolder(path: string): DataFolder {
  return {
    path,
    claim: (options) => claim(path, options),
    owner: async () => (existsSync(path) ? readOwner(path) : undefined),
    waitForOwnerEnd: (signal) => waitForOwnerEnd(path, signal),
    credential: () => readCredential(path),
    storedCredential: async () => (existsSync(join(path, "credential")) ? readCredential(path) : undefined),
  };
}

async function waitForOwnerEnd(path: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await readOwner(path))) {
    await waitFor(pollMs, signal);
  }
}

async function readCredential(path: string): Promise<string> {
  const file = join(path, "credential");
  await createFile(file, `sk_live_${randomBytes(32).toString("base64url")}\n`);
  const key = (await readFile(file, "utf8")).trim();
  if (!/^sk_live_[\w-]{43}$/.test(key)) {
    throw new Error(`${file} does not contain a key. Delete it and start again: a new key is created.`);
  }
  return key;
}
