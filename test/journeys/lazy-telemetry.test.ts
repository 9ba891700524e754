/**
 * Telemetry packages are loaded only if a setting enables them, so that they cost no time
 * or memory otherwise.
 */
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { messages } from "../../tools/messages/index.ts";
import { openProcesses } from "../support/served-process.ts";

/** Returns the telemetry files that a service has loaded after it has sent a message. */
async function readLoadedFiles(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await using processes = await openProcesses();
  const { client, process } = await processes.serve({
    NODE_OPTIONS: `--require=${resolve("test/support/report-loaded-telemetry.cjs")}`,
    ...env,
  });
  await client.call(messages.send_message, { to: "+14155550123", type: "text", text: { body: "Hello" } });
  process.child.kill("SIGUSR2");
  const [, files = ""] = await process.waitForOutput(/loaded: (\[.*\])/);
  return JSON.parse(files);
}

test.concurrent("without settings no telemetry is loaded", async () => {
  expect(await readLoadedFiles({})).toEqual([]);
});

test.concurrent("with the metrics setting metrics are loaded, and traces are not", async () => {
  const files = await readLoadedFiles({ TIDINGS_METRICS_TOKEN: "a-token-of-the-operator" });
  expect(files.some((file) => file.includes("prom-client"))).toBe(true);
  // prom-client itself loads the OpenTelemetry API, for exemplars.
  expect(files.filter((file) => /sdk-trace|exporter-trace/.test(file))).toEqual([]);
});
