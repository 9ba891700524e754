/** `tidings listen`: events reach a local program, signed, also after a restart of the service. */
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { openDataFolder } from "../../src/cli/data-folder/data-folder.ts";
import { ownerKey, startTestApp } from "../support/app.ts";
import { lendTestDatabase } from "../support/database.ts";
import { ownPort } from "../support/own-port.ts";
import { startProcess } from "../support/process.ts";
import { startUpstream } from "../support/scripted-service.ts";
import { openProcesses, waitUntil } from "../support/served-process.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

/** Writes to the service at this address as a contact. */
async function write(address: string, text: string): Promise<void> {
  const answer = await fetch(`${address}/simulator/inbound`, {
    method: "POST",
    headers: { "x-api-key": ownerKey, "content-type": "application/json" },
    body: JSON.stringify({ from: "+14155550161", text }),
  });
  expect(answer.ok).toBe(true);
}

/** The texts of the messages that were forwarded, among other events. */
const textsIn = ({ received }: WebhookReceiver) =>
  received.filter(({ event }) => event.type === "message.received").map(({ event }) => event.data.text);

test("events are forwarded with a webhook's headers, and a restart of the service loses none", async () => {
  await using receiver = await startWebhookReceiver();
  await using database = await lendTestDatabase();
  const { env } = database;
  const localKey = await (await openDataFolder(env.TIDINGS_DATA_DIR ?? "")).credential();
  const before = await startTestApp({ database, localKey, port: ownPort });
  const listening = startProcess(["listen", "--forward-to", receiver.url], { ...env, PORT: String(ownPort) });
  onTestFinished(() => listening.end("SIGKILL"));
  const [, secret = ""] = await listening.waitForOutput(/Signing secret: (whsec_\S+)/);
  receiver.secret = secret;
  await listening.waitForOutput(/Listening/);
  await write(before.address, "one");
  await listening.waitForOutput(/message\.received {2}evt_\w+ {2}200 {2}\d+ ms/);
  await before[Symbol.asyncDispose]();
  await using after = await startTestApp({ database, localKey, port: ownPort });
  await write(after.address, "two");
  await listening.waitForOutput(/(?:message\.received[\s\S]*){2}/);
  expect(textsIn(receiver)).toEqual([{ body: "one" }, { body: "two" }]);
  expect(receiver.received[0]?.headers).toMatchObject({ "webhook-id": receiver.received[0]?.event.id });
  expect(receiver.forged).toBe(0);
  await listening.end("SIGINT");
  expect(listening.child.exitCode).toBe(0);
}, 60_000);

// With PostgreSQL the folder does not record where the service listens.
test("a service that is killed and returns at another port loses no event, and none is shown twice", {
  tags: "embedded",
  timeout: 60_000,
}, async () => {
  await using receiver = await startWebhookReceiver();
  await using foreign = await startUpstream([{ status: 404 }]);
  await using processes = await openProcesses();
  const before = await processes.serve();
  const listening = processes.start(["listen", "--forward-to", receiver.url], {
    PORT: new URL(foreign.url).port,
  });
  const [, secret = ""] = await listening.waitForOutput(/Signing secret: (whsec_\S+)/);
  receiver.secret = secret;
  await listening.waitForOutput(/Listening/);
  await write(before.address, "one");
  await listening.waitForOutput(/message\.received/);
  await write(before.address, "two");
  await before.process.end("SIGKILL");
  await listening.waitForOutput(/Waiting for the service/);
  const after = await processes.serve();
  await write(after.address, "three");
  await listening.waitForOutput(/(?:message\.received[\s\S]*){3}/);
  await after.process.end("SIGTERM");
  await listening.waitForOutput(/(?:Waiting for the service[\s\S]*){2}/);
  expect(textsIn(receiver)).toEqual([{ body: "one" }, { body: "two" }, { body: "three" }]);
  expect(listening.stdout().match(/Waiting for the service/g)).toHaveLength(2);
  expect(listening.stdout().match(/Listening/g)).toHaveLength(1);
});

test("another program's answer at TIDINGS_BASE_URL does not end it, and it continues with the cursor", async () => {
  const events = (cursor: string) => ({ body: { data: [], meta: { cursor } } });
  await using upstream = await startUpstream([
    events("c1"),
    { status: 404, body: "Not found" },
    events("c2"),
  ]);
  const settings = {
    TIDINGS_BASE_URL: upstream.url,
    TIDINGS_API_KEY: ownerKey,
    // The signing secret is kept there.
    TIDINGS_DATA_DIR: join(inject("folder"), "listen"),
  };
  const listening = startProcess(["listen", "--forward-to", "http://127.0.0.1:1/"], settings);
  onTestFinished(() => listening.end("SIGKILL"));
  await listening.waitForOutput(/Listening[\s\S]*Waiting for the service/);
  await waitUntil(() => upstream.requests.length >= 4);
  const cursors = upstream.requests.map(({ path }) => new URL(path, upstream.url).searchParams.get("after"));
  expect(cursors.slice(0, 4)).toEqual([null, "c1", "c1", "c2"]);
});
