/** Starts the built service with a key and an empty data folder, for suites that test it from outside. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

export interface BuiltService extends AsyncDisposable {
  /** `http://host:port`. */
  readonly url: string;
  readonly key: string;
}

/** @param settings the settings that differ from those of all suites. */
export async function startBuiltService(
  settings: Readonly<Record<string, string>> = {},
): Promise<BuiltService> {
  const key = `sk_live_${"k".repeat(43)}`;
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-conformance-"));
  const service = spawn(process.execPath, ["dist/tidings.js", "serve"], {
    env: {
      ...process.env,
      TIDINGS_DATA_DIR: dataDir,
      PORT: "0",
      TIDINGS_BOOTSTRAP_KEY: key,
      TIDINGS_LOG_LEVEL: "error",
      TIDINGS_RATE_LIMIT: "100000",
      TIDINGS_RATE_BURST: "100000",
      ...settings,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return {
    url: await readAddress(service.stdout),
    key,
    async [Symbol.asyncDispose]() {
      service.kill("SIGTERM");
      await once(service, "exit");
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Reads the address of the service from its output. */
async function readAddress(stdout: Readable): Promise<string> {
  let output = "";
  for await (const chunk of stdout) {
    output += String(chunk);
    const [, address] = /MCP +(http:\S+)\/mcp/.exec(output) ?? [];
    if (address !== undefined) {
      stdout.resume();
      return address;
    }
  }
  throw new Error("The service ended before it listened. Run npm run build first.");
}
