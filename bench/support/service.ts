/**
 * Starts the built service for a benchmark: in its own process, without rate limits, with a known API key.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

export interface BenchService {
  readonly child: ChildProcess;
  readonly baseUrl: string;
}

interface ServiceSettings {
  readonly port: number;
  readonly key: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Resolves when the service answers. `env` sets the location of its data, and any other setting. */
export function startService(port: number, key: string, env: Record<string, string>): Promise<BenchService> {
  return startProgram("dist/tidings.js", { port, key, env });
}

/** Like `startService`, with the program of another version. */
export async function startProgram(
  program: string,
  { port, key, env }: ServiceSettings,
): Promise<BenchService> {
  const child = spawn(process.execPath, [program, "serve"], {
    env: {
      ...process.env,
      PORT: String(port),
      TIDINGS_BOOTSTRAP_KEY: key,
      TIDINGS_LOG_LEVEL: "error",
      TIDINGS_RATE_LIMIT: "1000000",
      TIDINGS_RATE_BURST: "1000000",
      ...env,
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

/** The resident memory of a process in MB; 0 if it has ended. */
export async function residentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Polls every 10 ms until the condition is true. */
export async function pollUntil(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) {
    await sleep(10);
  }
}
