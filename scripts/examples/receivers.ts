/** Checks a receiver of webhooks: it answers each message once, and rejects requests that are not signed. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient, operations } from "../../src/client/package.ts";
import { signDelivery } from "../../src/platform/foundation/sealing/index.ts";
import type { BuiltService } from "../conformance/service.ts";
import { createCustomer } from "./customer.ts";
import { startExample } from "./program.ts";

export interface Receiver {
  readonly program: string;
  readonly file: string;
  /** Of the customer who writes. */
  readonly number: string;
}

/** @throws AssertionError, or Error if the receiver does not print what it should. */
export async function checkReceiver(service: BuiltService, { program, file, number }: Receiver) {
  const client = createClient({ baseUrl: service.url, key: service.key });
  const port = await findPort();
  const url = `http://127.0.0.1:${port}/hooks`;
  const { data: webhook } = await client.call(operations.create_webhook, {
    url,
    events: ["message.received"],
  });
  const { id, signing_secret: secret } = webhook;
  await using receiver = startExample(program, [file], {
    WEBHOOK_SECRET: secret,
    TIDINGS_BASE_URL: service.url,
    TIDINGS_API_KEY: service.key,
    PORT: String(port),
  });
  await receiver.untilLine(/^Listening/);

  const { data: tested } = await client.call(operations.test_webhook, { id });
  assert(tested.delivered, JSON.stringify(tested.problem));

  const customer = createCustomer(service, number);
  await customer.write("Is my order on its way?");
  await receiver.untilLine(/^Answered/);
  await customer.untilAnswered();

  const delivery_id = await findDelivery(client, id);
  await client.call(operations.replay_webhook_delivery, { id, delivery_id });
  await receiver.untilLine(/^Ignored/);

  await checkSignatures(url, secret);
  assert.equal(receiver.count(/^Answered/), 1);
  assert.deepEqual(await customer.received(), ["Thanks, we got your message: Is my order on its way?"]);
  await client.call(operations.delete_webhook, { id });
  await client.close();
}

/** The only delivery of the webhook, once the service has recorded the receiver's answer. */
async function findDelivery(client: Client, id: string): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { data } = await client.call(operations.list_webhook_deliveries, { id });
    assert.equal(data.length, 1);
    if (data[0]?.status === "delivered") {
      return data[0].id;
    }
    await sleep(100);
  }
  throw new Error("The service recorded no success of the delivery within 10 s.");
}

/** Sends requests that differ from a valid one in one respect. */
async function checkSignatures(url: string, secret: string): Promise<void> {
  const event = { id: "evt_1", type: "message.received", data: { test: true } };
  const now = new Date();
  const signed = { id: event.id, body: JSON.stringify(event), now, secrets: [secret] } as const;
  const headers = signDelivery(signed);
  const other = signDelivery({ ...signed, secrets: [`whsec_${Buffer.alloc(32, 1).toString("base64")}`] });
  const old = signDelivery({ ...signed, now: new Date(now.getTime() - 3_600_000) });
  const { "webhook-signature": _, ...unsigned } = headers;

  assert.equal(await post(url, signed.body, headers), 200);
  assert.equal(await post(url, signed.body.replace("evt_1", "evt_2"), headers), 401);
  assert.equal(await post(url, signed.body, other), 401);
  assert.equal(await post(url, signed.body, old), 401);
  assert.equal(await post(url, signed.body, unsigned), 401);
  assert.equal(await post(url, signed.body, { ...headers, "webhook-signature": "v1,?? v2" }), 401);
}

async function post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(url, { method: "POST", headers, body });
  await response.body?.cancel();
  return response.status;
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}
