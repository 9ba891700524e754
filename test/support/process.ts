/** Starts a `tidings` process from the built program and reads its output. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** The program built for this test run. */
export const programPath = "node_modules/.cache/tidings-test/tidings.js";

export interface TidingsProcess {
  readonly child: ChildProcess;
  /** The output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the first match on stdout. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  end(signal: NodeJS.Signals): Promise<void>;
}

export function startProcess(args: string[], env: Readonly<Record<string, string>>): TidingsProcess {
  const child = spawn(process.execPath, [programPath, ...args], {
    env: { ...process.env, TIDINGS_LOG_LEVEL: "error", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const written = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (written.stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (written.stderr += String(chunk)));
  // Only then is the output complete: the process may exit before all of it has been read.
  let isClosed = false;
  child.once("close", () => {
    isClosed = true;
  });
  return {
    child,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    async waitForOutput(pattern) {
      for (;;) {
        const match = pattern.exec(written.stdout);
        if (match) {
          return match;
        }
        if (isClosed) {
          throw new Error(`the process exited with ${child.exitCode}: ${written.stderr}`);
        }
        await Promise.race([once(child.stdout, "data"), once(child, "close")]);
      }
    },
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        const exit = once(child, "exit");
        child.kill(signal);
        await exit;
      }
    },
  };
}
