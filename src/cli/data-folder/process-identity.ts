/** Identifies a process beyond its pid, which the system reuses and containers share. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { errorCode } from "./files.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** Scope of the pid: the host and, on Linux, its boot id and the container's pid namespace. */
  readonly place: string;
  /** When the process started, so that a reused pid is not mistaken for it. */
  readonly started: string;
}

/** Clock adjustments are seconds; two boots are further apart. */
const bootToleranceMs = 60_000;

export function identifyThisProcess(): ProcessIdentity {
  return { pid: process.pid, place: describeHost(), started: startTimeOf(process.pid) ?? "" };
}

/** Undefined if unknown from here: another host or container, or a host that has rebooted since. */
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
 * When the process started. On Linux in ticks since the boot (`man proc_pid_stat`, field 22): exact, and
 * undefined for a process that is hidden. Elsewhere the boot time of the host, in ms.
 */
function startTimeOf(pid: number): string | undefined {
  if (process.platform !== "linux") {
    return String(Math.round(Date.now() - uptime() * 1000));
  }
  const text = tryOrUndefined(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The second field is the command in parentheses and may contain any character, including parentheses.
  const [state, ...fields] = text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? [];
  return state === "Z" || state === "X" ? "ended" : fields[18];
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
