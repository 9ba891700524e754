/** Starts a long-running command of the built program and waits until it prints its address. */
import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Program extends AsyncDisposable {
  readonly address: string;
}

/** `pattern` matches the line with the address, and the address as its first group. */
export async function startProgram(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  pattern: RegExp,
): Promise<Program> {
  const child = spawn(process.execPath, ["dist/tidings.js", ...args], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  let output = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const [, address] = pattern.exec(output) ?? [];
    if (address !== undefined) {
      child.stdout.resume();
      return {
        address,
        async [Symbol.asyncDispose]() {
          child.kill("SIGTERM");
          await ended;
        },
      };
    }
  }
  throw new Error(`tidings ${args.join(" ")} ended before it listened. Run npm run build first.`);
}
