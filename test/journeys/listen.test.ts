/** `tidings listen`: events reach a program on this machine, signed, also after the service was away. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ownerKey } from "../support/house.ts";
import { type Process, startProcess } from "../support/process.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

let database: FreshDatabase;
let running: Process[];
beforeEach(async () => {
  database = await freshDatabase();
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((process) => process.end("SIGKILL")));
  await database[Symbol.asyncDispose]();
});

function start(args: string[], env: Record<string, string>): Process {
  const process = startProcess(args, { ...database.env, TIDINGS_BOOTSTRAP_KEY: ownerKey, ...env });
  running.push(process);
  return process;
}

async function serve(port: string) {
  const process = start(["serve"], { PORT: port });
  const [, address = ""] = await process.says(/REST\s+(http:\S+)\/v1/);
  const write = (text: string) =>
    fetch(`${address}/simulator/inbound`, {
      method: "POST",
      headers: { "x-api-key": ownerKey, "content-type": "application/json" },
      body: JSON.stringify({ from: "+14155550161", text }),
    });
  return { process, write, port: new URL(address).port };
}

test("events are forwarded with a webhook's headers, and a restart of the service loses none", async () => {
  await using receiver = await startWebhookReceiver();
  const before = await serve("0");
  const listening = start(["listen", "--forward-to", receiver.url], { PORT: before.port });
  const [, secret = ""] = await listening.says(/secret, for this run: (whsec_\S+)/);
  receiver.secret = secret;
  await listening.says(/Listening/);
  await before.write("one");
  await listening.says(/message\.received {2}evt_\w+ {2}200 {2}\d+ ms/);
  await before.process.end("SIGTERM");
  const after = await serve(before.port);
  await after.write("two");
  await listening.says(/(?:message\.received[\s\S]*){2}/);
  expect(receiver.told.map(({ event }) => event.data.text)).toEqual([{ body: "one" }, { body: "two" }]);
  expect(receiver.told[0]?.headers).toMatchObject({ "webhook-id": receiver.told[0]?.event.id });
  expect(receiver.forged).toBe(0);
  await listening.end("SIGINT");
  expect(listening.child.exitCode).toBe(0);
}, 60_000);
