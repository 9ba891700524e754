/** Runs programs that a machine may have installed, such as promtool and caddy. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export function hasProgram(name: string): boolean {
  return spawnSync("sh", ["-c", 'command -v "$1"', "sh", name]).status === 0;
}

/** Resolves with the exit code, and with stdout and stderr as one text. */
export async function runProgram(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(name, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code, output: stdout + stderr };
}
