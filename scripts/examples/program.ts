/** Starts a program of an example, and reads its output line by line. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** How long a program may take to print an expected line. */
const lineLimitMs = 30_000;

export interface ExampleProgram extends AsyncDisposable {
  /** Waits for a line, which may have been printed before. @throws Error with all lines if none comes. */
  untilLine(pattern: RegExp): Promise<void>;
  /** How many lines match. */
  count(pattern: RegExp): number;
}

export function startExample(
  program: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): ExampleProgram {
  const child = spawn(program, args, {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  const isEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    async untilLine(pattern) {
      const signal = AbortSignal.timeout(lineLimitMs);
      while (!lines.some((line) => pattern.test(line))) {
        if (isEnded() || signal.aborted) {
          throw new Error(`No line ${pattern} of ${args.join(" ")}:\n${lines.join("\n")}`);
        }
        // The next line, the end of the output, or the time limit.
        await Promise.race([
          once(reader, "line", { signal }).catch(() => undefined),
          once(child, "exit", { signal }).catch(() => undefined),
        ]);
      }
    },
    count: (pattern) => lines.filter((line) => pattern.test(line)).length,
    async [Symbol.asyncDispose]() {
      if (!isEnded()) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
    },
  };
}
