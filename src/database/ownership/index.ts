/**
 * Ownership of the data folder: one process at a time, with a heartbeat and takeover.
 *
 * Two database engines on one folder corrupt it silently, so one process owns the folder and other processes
 * follow it. The owner is the running process that created the file `owner.<N>` with the highest N. A process
 * that finds the owner dead creates `owner.<N+1>`: only one process can create a file that does not exist.
 * The file with the highest N is never removed; a clean release only marks it. A slow claimant that creates
 * an outdated N therefore finds a higher N when it looks again, and withdraws.
 */
import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { createFile, errorCode, replaceFile } from "./files.ts";
import { identifyThisProcess, isRunning } from "./process-identity.ts";

export { createFile, errorCode, replaceFile } from "./files.ts";

/** The process that owns the folder. */
export interface FolderOwner {
  readonly pid: number;
  /** The address on which the owner listens; undefined before it listens. */
  readonly address: string | undefined;
}

/** The ownership is valid until it is released, or its process ends. */
export interface Ownership {
  /** Records the owner's address for the followers. */
  publish(address: string): Promise<void>;
  /** Releases the folder at once. Close everything that uses the folder first. */
  release(): Promise<void>;
}

export interface ClaimOptions {
  /**
   * Called if this process or its disk stalled and another process owns the folder now. This process must
   * exit at once.
   */
  onLost(): void;
}

/** Content of `owner.<N>`, as JSON: the process's identity, and where it listens. */
const OwnerRecord = z.object({
  pid: z.int().positive(),
  place: z.string(),
  started: z.string(),
  nonce: z.string(),
  created_at: z.string(),
  address: z
    .string()
    .regex(/^http:\/\/[\w.:[\]]+:\d+$/)
    .optional()
    // An invalid address is ignored: the process is still the owner.
    .catch(undefined),
  released: z.literal(true).optional(),
});

type OwnerRecord = z.output<typeof OwnerRecord>;

interface Claim {
  readonly generation: number;
  readonly record: OwnerRecord;
  readonly heartbeatAt: number;
}

const heartbeatMs = 2_000;
/** Seven missed heartbeats: longer than a busy machine stalls, and short enough to wait after a crash. */
const staleMs = 15_000;

/** After a process is killed, its threads may run for a moment longer. */
const endTimeoutMs = 3_000;

/**
 * Takes ownership of the folder. Returns undefined while a running process owns it, including this process.
 */
export async function claim(path: string, { onLost }: ClaimOptions): Promise<Ownership | undefined> {
  const record = {
    ...identifyThisProcess(),
    nonce: randomUUID(),
    created_at: new Date().toISOString(),
  };
  for (;;) {
    const last = await findHighest(path);
    if (last && isAlive(last)) {
      return undefined;
    }
    const generation = (last?.generation ?? 0) + 1;
    const file = ownerFile(path, generation);
    if (await createFile(file, JSON.stringify(record))) {
      if (await isHighest(path, generation, record)) {
        const lower = (await listGenerations(path)).filter((other) => other < generation);
        await Promise.all(lower.map((other) => rm(ownerFile(path, other), { force: true })));
        return keepOwnership(file, record, { isOurs: () => isHighest(path, generation, record), onLost });
      }
      await rm(file, { force: true });
    }
  }
}

/** Like `claim`, but waits a moment until the owner ends, and throws if it does not end. */
export async function claimOrFail(path: string, options: ClaimOptions): Promise<Ownership> {
  const deadline = Date.now() + endTimeoutMs;
  for (;;) {
    const ownership = await claim(path, options);
    if (ownership) {
      return ownership;
    }
    if (Date.now() > deadline) {
      throw new Error(
        `The data folder ${path} is already in use. Stop the process that uses it, or set another folder.`,
      );
    }
    await sleep(20);
  }
}

export async function readOwner(path: string): Promise<FolderOwner | undefined> {
  const last = await findHighest(path);
  return last && isAlive(last) ? { pid: last.record.pid, address: last.record.address } : undefined;
}

/** Sends heartbeats while the claim is the highest, and calls `onLost` when it no longer is. */
function keepOwnership(
  file: string,
  record: OwnerRecord,
  { isOurs, onLost }: ClaimOptions & { readonly isOurs: () => Promise<boolean> },
): Ownership {
  const released = new AbortController();
  const monitoring = sendHeartbeats(file, isOurs, released.signal).then((isLost) => isLost && onLost());
  return {
    publish: (address) => replaceFile(file, JSON.stringify({ ...record, address })),
    async release() {
      released.abort();
      await monitoring;
      if (await isOurs()) {
        await replaceFile(file, JSON.stringify({ ...record, released: true }));
      }
    },
  };
}

/** Returns true when the claim is lost, and false when it was released. */
async function sendHeartbeats(
  file: string,
  isOurs: () => Promise<boolean>,
  released: AbortSignal,
): Promise<boolean> {
  let lastHeartbeatAt = Date.now();
  while (await waitFor(heartbeatMs, released)) {
    try {
      if (!(await isOurs())) {
        return true;
      }
      await utimes(file, new Date(), new Date());
      lastHeartbeatAt = Date.now();
    } catch {
      // The disk may recover, but after this time other processes take over.
      if (Date.now() - lastHeartbeatAt > staleMs) {
        return true;
      }
    }
  }
  return false;
}

async function isHighest(path: string, generation: number, record: OwnerRecord): Promise<boolean> {
  const last = await findHighest(path);
  return last?.generation === generation && last.record.nonce === record.nonce;
}

/** Whether the owner's process runs. If that can't be determined from here, its heartbeat decides. */
function isAlive({ record, heartbeatAt }: Claim): boolean {
  return !record.released && (isRunning(record) ?? Date.now() - heartbeatAt < staleMs);
}

async function findHighest(path: string): Promise<Claim | undefined> {
  for (;;) {
    const generation = Math.max(0, ...(await listGenerations(path)));
    if (generation === 0) {
      return undefined;
    }
    const file = ownerFile(path, generation);
    try {
      const { mtimeMs } = await stat(file);
      return { generation, heartbeatAt: mtimeMs, record: parseRecord(await readFile(file, "utf8")) };
    } catch (error) {
      if (errorCode(error) !== "ENOENT") {
        throw error;
      }
      // A process with a higher number removed the file: look again.
    }
  }
}

/**
 * A file that was truncated by a power loss, or written by another program, names no process, so its age
 * decides.
 */
function parseRecord(text: string): OwnerRecord {
  try {
    return OwnerRecord.parse(JSON.parse(text));
  } catch {
    return { pid: 0, place: "unknown", started: "", nonce: "", created_at: "" };
  }
}

async function listGenerations(path: string): Promise<number[]> {
  const names = await readdir(path);
  return names.flatMap((name) => (/^owner\.\d+$/.test(name) ? [Number(name.slice("owner.".length))] : []));
}

function ownerFile(path: string, generation: number): string {
  return join(path, `owner.${generation}`);
}

/** @returns false if the signal aborted. Does not keep the process alive. */
export async function waitFor(ms: number, signal: AbortSignal): Promise<boolean> {
  return await sleep(ms, true, { ref: false, signal }).catch(() => false);
}
