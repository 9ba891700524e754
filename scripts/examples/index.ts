/**
 * Runs the webhook receivers and the bots of `examples/` against the built service, and prints a line for
 * each. The clients that are generated from the OpenAPI document have a command of their own.
 */
import { type BuiltService, startBuiltService } from "../conformance/service.ts";
import { checkBot } from "./bots.ts";
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
  "langchain-bot": (service) =>
    checkBot(service, { name: "langchain-bot", numbers: ["+14155550133", "+14155550143"] }),
  "openai-agents-bot": (service) =>
    checkBot(service, { name: "openai-agents-bot", numbers: ["+14155550134", "+14155550144"] }),
  "ai-sdk-bot": (service) =>
    checkBot(service, { name: "ai-sdk-bot", numbers: ["+14155550135", "+14155550145"] }),
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
