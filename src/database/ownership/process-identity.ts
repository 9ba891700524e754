/** Identifies a process beyond its pid, which the system reuses and containers share. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { errorCode } from "./files.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** Scope of the pid: the host and, on Linux, its boot id and the container's pid namespace. */
  readonly place: string;
  /** When the process started. Distinguishes the process from a later process with the same pid. */
  readonly started: string;
}

/** Clock adjustments are within seconds; two boots are further apart. */
const bootToleranceMs = 60_000;

export function identifyThisProcess(): ProcessIdentity {
  return { pid: process.pid, place: describeHost(), started: startTimeOf(process.pid) ?? "" };
}

/**
 * Returns undefined if this can't be determined from here: for another host or container, or a host that has
 * rebooted since.
 */
export function isRunning({ pid, place, started }: ProcessIdentity): boolean | undefined {
  if (place !== describeHost()) {
    return undefined;
  }
  if (!processExists(pid)) {
    return false;
  }
  const current = startTimeOf(pid) ?? started;
  const isSameBoot = Math.abs(Number(current) - Number(started)) < bootToleranceMs;
  return process.platform === "linux" ? current === started : isSameBoot || undefined;
}

function describeHost(): string {
  const boot = tryOrUndefined(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const namespace = tryOrUndefined(() => readlinkSync("/proc/self/ns/pid"));
  return [hostname(), boot, namespace].filter(Boolean).join(" ");
}

/**
 * When the process started. On Linux, in ticks since the boot (`man proc_pid_stat`, field 22): exact, and
 * undefined for a hidden process. On other systems, the boot time of the host in ms.
 */
function startTimeOf(pid: number): string | undefined {
  if (process.platform !== "linux") {
    return String(Math.round(Date.now() - uptime() * 1000));
  }
  const [state, ...fields] = readStat(`/proc/${pid}`);
  return isZombie(state) && !hasThread(pid) ? "ended" : fields[18];
}

/**
 * The fields from the third on. The second field is the command in parentheses, which may contain parentheses
 * itself.
 */
function readStat(folder: string): string[] {
  const text = tryOrUndefined(() => readFileSync(`${folder}/stat`, "utf8"));
  return text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? [];
}

/**
 * Whether a thread of the process exists. A killed process is already a zombie while one of its threads still
 * writes to the disk.
 */
function hasThread(pid: number): boolean {
  const threads = tryOrUndefined(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.some((thread) => {
    const [state] = readStat(`/proc/${pid}/task/${thread}`);
    return state !== undefined && !isZombie(state);
  });
}

/** The states of a zombie and of a dead process. */
function isZombie(state: string | undefined): boolean {
  return state === "Z" || state === "X";
}

function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === "EPERM"; // a process of another user
  }
}

function tryOrUndefined<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
