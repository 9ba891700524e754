/** The built service in a process of its own, as a bench starts it: quiet, without rate limits, under a known key. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

export interface BenchService {
  readonly child: ChildProcess;
  readonly baseUrl: string;
}

/** Resolves when it answers; `env` says where its data is. */
export async function startService(
  port: number,
  key: string,
  env: Record<string, string>,
): Promise<BenchService> {
  const child = spawn(process.execPath, ["dist/tidings.js", "serve"], {
    env: {
      ...process.env,
      ...env,
      PORT: String(port),
      TIDINGS_BOOTSTRAP_KEY: key,
      TIDINGS_LOG_LEVEL: "error",
      TIDINGS_RATE_LIMIT: "1000000",
      TIDINGS_RATE_BURST: "1000000",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  await pollUntil(async () => {
    if (child.exitCode !== null) {
      throw new Error(`The service ended with ${child.exitCode} before it answered.`);
    }
    return (await fetch(`${baseUrl}/healthz`).catch(() => undefined))?.ok ?? false;
  });
  return { child, baseUrl };
}

/** The memory that a process of this machine holds; 0 of one that has ended. */
export async function residentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Waits for what takes a while and can only be asked for. */
export async function pollUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    await sleep(10);
  }
}
