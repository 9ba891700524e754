/**
 * Runs the programs of `examples/` that act on events and conversations, against the built service, and
 * prints a line for each. The clients that are generated from the OpenAPI document have a command of their
 * own.
 */
import { type BuiltService, startBuiltService } from "../conformance/service.ts";
import { checkReceiver } from "./receivers.ts";

const examples: Readonly<Record<string, (service: BuiltService) => Promise<void>>> = {
  "webhook-node": (service) =>
    checkReceiver(service, {
      program: process.execPath,
      file: "examples/webhook-node/main.mjs",
      number: "+14155550131",
    }),
  "webhook-python": (service) =>
    checkReceiver(service, {
      program: "python3",
      file: "examples/webhook-python/main.py",
      number: "+14155550132",
    }),
};

await using service = await startBuiltService({ TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" });
for (const [name, check] of Object.entries(examples)) {
  const startedAt = Date.now();
  try {
    await check(service);
    console.log(`${name.padEnd(20)} passed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.log(`${name.padEnd(20)} FAILED`);
    console.error(error);
    process.exitCode = 1;
  }
}
