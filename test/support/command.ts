/** Runs a command of the program in the process of the tests, which has loaded the service already. */
import { expect, vi } from "vitest";
import { describeExit, main } from "../../src/cli/main.ts";

export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * As `tidings <args>` does it, without the second of processor time in which a new process loads the service.
 */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const written = { stdout: "", stderr: "" };
  const printing = (name: keyof typeof written) => (text: unknown) => {
    written[name] += `${text}\n`;
  };
  const spies = [
    vi.spyOn(console, "log").mockImplementation(printing("stdout")),
    vi.spyOn(console, "error").mockImplementation(printing("stderr")),
  ];
  for (const [name, value] of Object.entries({ TIDINGS_LOG_LEVEL: "error", ...env })) {
    vi.stubEnv(name, value);
  }
  try {
    await main([...args]);
    return { status: 0, ...written };
  } catch (error) {
    const { message, code } = describeExit(error, args);
    printing("stderr")(message);
    return { status: code, ...written };
  } finally {
    vi.unstubAllEnvs();
    for (const spy of spies) {
      spy.mockRestore();
    }
  }
}

/** The JSON that a command prints, which must succeed. */
export async function runJson(args: readonly string[], env: Readonly<Record<string, string>>) {
  const { status, stdout, stderr } = await runCommand([...args, "--json"], env);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout);
}
