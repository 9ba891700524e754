/** Bodies that stop arriving take a limited part of the memory, and disturb no other sender. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { ownerKey, type TestApp } from "./support/app.ts";
import { trustedProxyEnv } from "./support/users.ts";
import { envelope, type Inbox, signatureOf, useWhatsApp } from "./support/whatsapp.ts";

let app: TestApp;
let inbox: Inbox;
useWhatsApp(
  (started) => {
    ({ app, inbox } = started);
  },
  { env: { ...trustedProxyEnv, TIDINGS_RATE_BURST: "1000" } },
);

interface Stalled {
  readonly path: string;
  readonly headers: readonly string[];
  /** Of the body that was announced. */
  readonly length: number;
  readonly count: number;
}

/** Sends the bodies without their last bytes; the connections are closed when it is disposed. */
async function stall({ path, headers, length, count }: Stalled): Promise<AsyncDisposable> {
  const head = [`POST ${path} HTTP/1.1`, "Host: localhost", ...headers, `Content-Length: ${length}`];
  const part = Buffer.alloc(length - 100, "x");
  const sockets = Array.from({ length: count }, (): Socket => {
    const socket = connect(Number(new URL(app.address).port), "127.0.0.1").resume();
    socket.on("error", () => undefined); // a body that is rejected
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    socket.write(part);
    return socket;
  });
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(sockets.map((socket) => once(socket.destroy(), "close")));
    },
  };
}

const webhookPath = () => new URL(inbox.callback_url ?? "").pathname;

async function postWebhook(address: string, size: number): Promise<number> {
  const body = JSON.stringify({ ...envelope(), more: "x".repeat(size) });
  const headers = { "x-hub-signature-256": signatureOf(body), "x-forwarded-for": address };
  return (await app.fetch(webhookPath(), { method: "POST", key: null, body, headers })).status;
}

async function importFile(size: number, key = ownerKey): Promise<number> {
  const content_base64 = Buffer.from("phone\n".padEnd(size, "1")).toString("base64");
  const json = { file_name: "people.csv", content_base64 };
  return (await app.fetch("/v1/uploads", { method: "POST", key, json })).status;
}

test("large webhooks of one network that arrive together are all accepted", async () => {
  const statuses = await Promise.all(Array.from({ length: 100 }, () => postWebhook("192.0.2.1", 300_000)));
  expect(statuses).toEqual(Array(100).fill(200));
});

test("unfinished webhooks of one network are limited together, and no other network's", async () => {
  const path = webhookPath();
  const headers = ["X-Forwarded-For: 192.0.2.1"];
  {
    await using _stalled = await stall({ path, headers, length: 3_000_000, count: 24 });
    await expect.poll(() => postWebhook("192.0.2.1", 40_000), { timeout: 20_000 }).toBe(429);
    expect(await postWebhook("192.0.2.1", 10_000)).toBe(200);
    expect(await postWebhook("192.0.2.2", 1_000_000)).toBe(200);
    expect(await importFile(100_000)).toBe(201);
  }
  await expect.poll(() => postWebhook("192.0.2.1", 1_000_000)).toBe(200);
});

test("unfinished bodies of one organization are limited together", async () => {
  const path = "/v1/uploads";
  const headers = [`X-API-Key: ${ownerKey}`, "Content-Type: application/json"];
  {
    await using _stalled = await stall({ path, headers, length: 1_048_576, count: 70 });
    await expect.poll(() => importFile(40_000), { timeout: 20_000 }).toBe(429);
    expect(await importFile(1_000)).toBe(201);
    expect(await postWebhook("192.0.2.1", 1_000_000)).toBe(200);
  }
  await expect.poll(() => importFile(100_000)).toBe(201);
});
