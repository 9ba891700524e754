/** Telemetry that is not asked for is not loaded: neither its packages' time nor their memory is paid for. */
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { messages } from "../../tools/messages/index.ts";
import { useProcesses } from "../support/serve.ts";

const processes = useProcesses();

/** What a service has loaded when it has sent a message. */
async function loaded(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { client, process } = await processes.serve({
    NODE_OPTIONS: `--require=${resolve("test/support/loaded.cjs")}`,
    ...env,
  });
  await client.call(messages.send_message, { to: "+14155550123", type: "text", text: { body: "Hello" } });
  process.child.kill("SIGUSR2");
  const [, files = ""] = await process.says(/loaded: (\[.*\])/);
  return JSON.parse(files);
}

test("without a setting no telemetry is loaded", async () => {
  expect(await loaded({})).toEqual([]);
});

test("with the metrics' setting the figures are loaded, and traces are not", async () => {
  const files = await loaded({ TIDINGS_METRICS_TOKEN: "a-token-of-the-operator" });
  expect(files.some((file) => file.includes("prom-client"))).toBe(true);
  // prom-client itself loads the API, for exemplars.
  expect(files.filter((file) => /sdk-trace|exporter-trace/.test(file))).toEqual([]);
});
