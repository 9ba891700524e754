/**
 * The data folder: who owns it, where the owner listens, and the key that its processes share.
 *
 * Two database engines on one folder destroy it without a word, so one process owns the folder and the others
 * follow it. The owner is whoever made the file `owner.<N>` with the highest N, and lives. Who finds it dead
 * makes `owner.<N+1>`: making a file that must not exist yet succeeds for one process alone. The highest is
 * never removed, not even on a clean release, which only marks it: so a slow claimant that makes a number of
 * the past finds a higher one when it looks again, and withdraws.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { constants, readFileSync, readlinkSync } from "node:fs";
import * as fs from "node:fs/promises";
import { hostname, uptime } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Who owns the folder now. */
export interface Owner {
  readonly pid: number;
  /** Where it listens; undefined until it does. */
  readonly address: string | undefined;
}

/** Held by the owner, until it releases it or ends. */
export interface Ownership {
  /** Tells the followers where the owner listens. */
  publish(address: string): Promise<void>;
  /** Leaves the folder to the next claimant, at once. Everything that uses the folder must be closed before. */
  release(): Promise<void>;
}

export interface ClaimOptions {
  /** This process or its disk stood still, and another owns the folder now: the process must end at once. */
  onLost(): void;
}

export interface Folder {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Takes the folder; undefined when somebody alive owns it, be it this process. */
  claim(options: ClaimOptions): Promise<Ownership | undefined>;
  owner(): Promise<Owner | undefined>;
  /** Waits until nobody owns the folder, or for the signal. Does not keep the process alive. */
  ownerEnds(signal: AbortSignal): Promise<void>;
  /** The key for calls between this folder's processes; whoever asks first makes it. */
  credential(): Promise<string>;
}

/** What `owner.<N>` holds, as JSON. */
interface Holder {
  readonly pid: number;
  /** Where a pid means the same process: the host and, on Linux, its boot and the container's pid namespace. */
  readonly place: string;
  /** When the process started, so that a pid that is used again is not mistaken for it. */
  readonly started: string;
  readonly nonce: string;
  readonly created_at: string;
  readonly address?: string;
  readonly released?: true;
}

interface Claim {
  readonly generation: number;
  readonly holder: Holder;
  readonly beatAt: number;
}

const beatMs = 2_000;
/** Seven missed beats: longer than a busy machine stalls, short enough to wait for after a container's crash. */
const staleMs = 15_000;
const pollMs = 500;
/** A clock is set by seconds; between two boots lies more. */
const bootToleranceMs = 60_000;

/** Opens the folder, and makes it if need be: readable by its user alone. */
export async function openFolder(dir: string): Promise<Folder> {
  try {
    await fs.mkdir(dir, { recursive: true, mode: 0o700 });
    await fs.access(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new Error(`The data folder ${dir} can't be used (${code(cause)}): choose one to write to.`, {
      cause,
    });
  }
  const path = await fs.realpath(dir);
  return {
    path,
    claim: (options) => claim(path, options),
    owner: () => owner(path),
    ownerEnds: (signal) => ownerEnds(path, signal),
    credential: () => credential(path),
  };
}

async function claim(path: string, options: ClaimOptions): Promise<Ownership | undefined> {
  const [place, started] = [describePlace(), startOf(process.pid) ?? ""];
  const me = { pid: process.pid, place, started, nonce: randomUUID(), created_at: new Date().toISOString() };
  for (;;) {
    const last = await highest(path);
    if (last && isAlive(last)) {
      return undefined;
    }
    const generation = (last?.generation ?? 0) + 1;
    const file = ownerFile(path, generation);
    if (await create(file, JSON.stringify(me))) {
      if (await isHighest(path, generation, me)) {
        const lower = (await generations(path)).filter((other) => other < generation);
        await Promise.all(lower.map((other) => fs.rm(ownerFile(path, other), { force: true })));
        return hold(path, generation, { ...options, me });
      }
      await fs.rm(file, { force: true });
    }
  }
}

/** Keeps the claim: beats while it is the highest, and tells when it is not. */
function hold(path: string, generation: number, { me, onLost }: ClaimOptions & { me: Holder }): Ownership {
  const file = ownerFile(path, generation);
  const released = new AbortController();
  const beating = beat(file, () => isHighest(path, generation, me), released.signal);
  const watching = beating.then((isLost) => isLost && onLost());
  return {
    publish: (address) => replace(file, JSON.stringify({ ...me, address })),
    async release() {
      released.abort();
      await watching;
      if (await isHighest(path, generation, me)) {
        await replace(file, JSON.stringify({ ...me, released: true }));
      }
    },
  };
}

/** Returns true when the claim is lost, false when it was released. */
async function beat(file: string, isOurs: () => Promise<boolean>, released: AbortSignal): Promise<boolean> {
  let beatAt = Date.now();
  while (await passed(beatMs, released)) {
    try {
      if (!(await isOurs())) {
        return true;
      }
      await fs.utimes(file, new Date(), new Date());
      beatAt = Date.now();
    } catch {
      // The disk may recover, but others do not wait longer than this.
      if (Date.now() - beatAt > staleMs) {
        return true;
      }
    }
  }
  return false;
}

async function isHighest(path: string, generation: number, me: Holder): Promise<boolean> {
  const last = await highest(path);
  return last?.generation === generation && last.holder.nonce === me.nonce;
}

async function owner(path: string): Promise<Owner | undefined> {
  const last = await highest(path);
  return last && isAlive(last) ? { pid: last.holder.pid, address: last.holder.address } : undefined;
}

async function ownerEnds(path: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await owner(path))) {
    await passed(pollMs, signal);
  }
}

async function credential(path: string): Promise<string> {
  const file = join(path, "credential");
  await create(file, `sk_live_${randomBytes(32).toString("base64url")}\n`);
  const key = (await fs.readFile(file, "utf8")).trim();
  if (!/^sk_live_[\w-]{43}$/.test(key)) {
    throw new Error(`${file} does not hold a key. Remove it, and start again: a new one is made.`);
  }
  return key;
}

/** Whether the holder's process lives. Where its pid can't tell, its heartbeat does. */
function isAlive({ holder, beatAt }: Claim): boolean {
  return !holder.released && (runs(holder) ?? Date.now() - beatAt < staleMs);
}

/** Undefined when it can't be known from here: another host or container, or a host that has booted since. */
function runs({ pid, place, started }: Holder): boolean | undefined {
  if (place !== describePlace()) {
    return undefined;
  }
  if (!exists(pid)) {
    return false;
  }
  const found = startOf(pid) ?? started;
  const isNear = Math.abs(Number(found) - Number(started)) < bootToleranceMs;
  return process.platform === "linux" ? found === started : isNear || undefined;
}

function describePlace(): string {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const namespace = attempt(() => readlinkSync("/proc/self/ns/pid"));
  return [hostname(), boot, namespace].filter(Boolean).join(" ");
}

/**
 * When the process started, in ticks since the boot (`man proc_pid_stat`, field 22): exact on Linux, and
 * undefined for one that is hidden. Elsewhere the host's boot, in ms, stands for it.
 */
function startOf(pid: number): string | undefined {
  if (process.platform !== "linux") {
    return String(Math.round(Date.now() - uptime() * 1000));
  }
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The second field is the command in brackets, and may hold anything, brackets too.
  const [state, ...rest] = text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? [];
  return state === "Z" || state === "X" ? "ended" : rest[18];
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return code(error) === "EPERM"; // another user's
  }
}

async function highest(path: string): Promise<Claim | undefined> {
  for (;;) {
    const generation = Math.max(0, ...(await generations(path)));
    if (generation === 0) {
      return undefined;
    }
    const file = ownerFile(path, generation);
    try {
      const { mtimeMs } = await fs.stat(file);
      return { generation, beatAt: mtimeMs, holder: parse(await fs.readFile(file, "utf8")) };
    } catch (error) {
      if (code(error) !== "ENOENT") {
        throw error;
      }
      // A higher one has come, and removed it: look again.
    }
  }
}

/** A file that a power loss has emptied is nobody's: its age decides. */
function parse(text: string): Holder {
  const holder = attempt(() => JSON.parse(text) as Holder); // none but this file writes it
  return holder ?? { pid: 0, place: "unknown", started: "", nonce: "", created_at: "" };
}

async function generations(path: string): Promise<number[]> {
  const names = await fs.readdir(path);
  return names.flatMap((name) => (/^owner\.\d+$/.test(name) ? [Number(name.slice("owner.".length))] : []));
}

function ownerFile(path: string, generation: number): string {
  return join(path, `owner.${generation}`);
}

/** Makes a file that must not exist yet, with all its content at once; false when it exists. */
async function create(file: string, content: string): Promise<boolean> {
  const draft = await writeDraft(file, content);
  try {
    await fs.link(draft, file);
    return true;
  } catch (error) {
    if (code(error) !== "EEXIST") {
      throw error;
    }
    return false;
  } finally {
    await fs.rm(draft, { force: true });
  }
}

async function replace(file: string, content: string): Promise<void> {
  await fs.rename(await writeDraft(file, content), file);
}

async function writeDraft(file: string, content: string): Promise<string> {
  const draft = `${file}.${randomUUID()}.draft`;
  await fs.writeFile(draft, content, { mode: 0o600, flag: "wx" });
  return draft;
}

async function passed(ms: number, signal: AbortSignal): Promise<boolean> {
  return await sleep(ms, true, { ref: false, signal }).catch(() => false);
}

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function code(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
