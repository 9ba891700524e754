/** An emulator of the WhatsApp Cloud API with a clock that the test moves, and a receiver of its webhooks. */
import { createHmac } from "node:crypto";
import { afterEach, beforeEach } from "vitest";
import { createClock, defaults, type Emulator, startEmulator } from "../../emulator/index.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

export const { waba_id, app_id, phone_number_id, access_token, app_secret, verify_token } = defaults;
export const customer = "14155550123";
export const startAt = Date.parse("2026-11-22T12:00:00.000Z");

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes, and a wrong name fails the assertion
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

interface ReceivedWebhook {
  readonly body: Json;
  readonly raw: string;
}

export interface EmulatorTest {
  readonly emulator: Emulator;
  readonly callbackUrl: string;
  /** Webhooks with a right signature. */
  readonly received: ReceivedWebhook[];
  /** The changes of all webhooks. */
  changes(field?: string): Json[];
  /** The statuses of all webhooks, as `id status`. */
  statuses(): Json[];
  /** What the receiver answers to webhooks. */
  status: number;
  graph(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  control(method: string, path: string, body?: unknown): Promise<Answer>;
  send(message?: object): Promise<Answer>;
  /** Moves the clock and waits for the webhooks that this causes. */
  advance(ms: number): Promise<void>;
}

/** Call this at the top of a test file. Webhooks go to the receiver. */
export function useEmulator(): () => EmulatorTest {
  let current: EmulatorTest;
  let receiver: Receiver;
  beforeEach(async () => {
    const received: ReceivedWebhook[] = [];
    receiver = await startReceiver(async (request, response) => {
      const url = new URL(request.url ?? "", "http://x");
      const body = Buffer.concat(await request.toArray());
      if (request.method === "GET") {
        const isRight = url.searchParams.get("hub.verify_token") === verify_token;
        response.writeHead(isRight ? 200 : 403).end(url.searchParams.get("hub.challenge"));
        return;
      }
      const expected = `sha256=${createHmac("sha256", app_secret).update(body).digest("hex")}`;
      if (request.headers["x-hub-signature-256"] === expected && current.status === 200) {
        received.push({ raw: body.toString("latin1"), body: JSON.parse(body.toString("utf8")) });
      }
      response.writeHead(current.status).end();
    });
    const callbackUrl = `http://127.0.0.1:${receiver.port}/webhook`;
    const clock = createClock(startAt);
    const emulator = await startEmulator({ clock, callback_url: callbackUrl });
    current = createTest(emulator, callbackUrl, received);
  });
  afterEach(async () => {
    await current.emulator[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });
  return () => current;
}

function createTest(emulator: Emulator, callbackUrl: string, received: ReceivedWebhook[]): EmulatorTest {
  const call = async (method: string, url: string, headers: Record<string, string>, body: unknown) => {
    const answer = await fetch(url, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json");
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
  };
  const changes = (field?: string) =>
    received
      .flatMap(({ body }) => body.entry.flatMap((entry: Json) => entry.changes))
      .filter((change: Json) => field === undefined || change.field === field);
  const test: EmulatorTest = {
    emulator,
    callbackUrl,
    received,
    changes,
    status: 200,
    statuses: () => changes("messages").flatMap(({ value }: Json) => value.statuses ?? []),
    graph: (method, path, body, token = access_token) =>
      call(method, `${emulator.url}/v25.0/${path}`, { authorization: `Bearer ${token}` }, body),
    control: (method, path, body) => call(method, `${emulator.url}/emulator${path}`, {}, body),
    send: (message = { text: { body: "Hello" } }) =>
      test.graph("POST", `${phone_number_id}/messages`, {
        messaging_product: "whatsapp",
        to: customer,
        ...message,
      }),
    async advance(ms) {
      // The times of a message with a link count from when the file is there.
      await emulator.idle();
      // Sent and delivered are due 50 and 200 ms after a message: together, their webhooks would race.
      const first = Math.min(ms, 100);
      for (const step of [first, ms - first]) {
        emulator.clock.advance(step);
        await emulator.idle();
      }
    },
  };
  return test;
}

/** The status and code of an error, and its subcode. */
export function errorOf({ status, body }: Answer): [number, number, number?] {
  const { code, error_subcode } = body.error;
  return error_subcode === undefined ? [status, code] : [status, code, error_subcode];
}

/** Uploads a file by the API and returns its id. */
export async function upload({ emulator }: EmulatorTest, type: string, bytes = "a file"): Promise<string> {
  const form = new FormData();
  form.set("messaging_product", "whatsapp");
  form.set("type", type);
  form.set("file", new File([bytes], "file", { type }));
  const answer = await fetch(`${emulator.url}/v25.0/${phone_number_id}/media`, {
    method: "POST",
    headers: { authorization: `Bearer ${access_token}` },
    body: form,
  });
  return ((await answer.json()) as { id: string }).id; // the shape of an accepted upload
}

/** Uploads a sample for a template's header and returns its handle. */
export async function uploadSample(test: EmulatorTest, bytes = "sample"): Promise<string> {
  const { graph, emulator } = test;
  const path = `${app_id}/uploads?file_length=${bytes.length}&file_type=image/png&file_name=a.png`;
  const { id } = (await graph("POST", path)).body;
  const answer = await fetch(`${emulator.url}/v25.0/${id}`, {
    method: "POST",
    headers: { authorization: `OAuth ${access_token}`, file_offset: "0" },
    body: bytes,
  });
  return ((await answer.json()) as { h: string }).h; // the shape of a complete upload
}

/** Creates a template and lets its review pass. */
export async function approveTemplate(test: EmulatorTest, template: object): Promise<string> {
  const created = await test.graph("POST", `${waba_id}/message_templates`, {
    name: "order_update",
    language: "en_US",
    category: "UTILITY",
    components: [{ type: "BODY", text: "Your order has been shipped." }],
    ...template,
  });
  await test.advance(1_000);
  return created.body.id;
}
