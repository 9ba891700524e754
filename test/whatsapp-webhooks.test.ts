/** What Meta's webhooks are answered: the check of the address, signatures, limits, repetitions. */
import { describe, expect, test } from "vitest";
import { isSigned } from "../src/adapters/channel/whatsapp/webhook/signature.ts";
import { inboxes } from "../tools/inboxes.ts";
import vectors from "./fixtures/whatsapp/hub-signature-vectors.json" with { type: "json" };
import type { TestApp } from "./support/app.ts";
import { iterations } from "./support/iterations.ts";
import { sendRaw } from "./support/raw-request.ts";
import {
  createWhatsAppInbox,
  credentials,
  deliver,
  envelope,
  type GraphApi,
  type Inbox,
  inboundText,
  messagesChange,
  openWindow,
  postWebhook,
  sendText,
  signatureOf,
  useWhatsApp,
} from "./support/whatsapp.ts";

let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
useWhatsApp((started) => {
  ({ graph, app, inbox } = started);
});

const count = async (table: "messages" | "jobs" | "message_receipts" | "parked_receipts") =>
  (await app.server.database.queries.selectFrom(table).selectAll().execute()).length;

const post = (body: string | Buffer, signature?: string) =>
  postWebhook(app, inbox, { body, ...(signature === undefined ? {} : { signature }) });

describe("the check of the address", () => {
  const check = (query: Record<string, string>) =>
    app.fetch(`${new URL(inbox.callback_url ?? "").pathname}?${new URLSearchParams(query)}`, { key: null });
  const query = {
    "hub.mode": "subscribe",
    "hub.verify_token": credentials.verify_token,
    "hub.challenge": "1158201444",
  };

  test("is answered with the challenge alone", async () => {
    const response = await check(query);
    expect([response.status, await response.text()]).toEqual([200, "1158201444"]);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("is limited for whoever guesses the verify token, for a minute", async () => {
    const guess = { ...query, "hub.verify_token": "guess" };
    const statuses = [];
    for (let number = 1; number <= 32; number += 1) {
      statuses.push((await check(guess)).status);
    }
    expect(statuses).toEqual([...Array(30).fill(403), 429, 429]);
    expect((await check(query)).status).toBe(429);
    await app.advanceTime(60_000);
    expect((await check(query)).status).toBe(200);
  });

  test.each([{ "hub.verify_token": "another" }, { "hub.mode": "unsubscribe" }, { "hub.verify_token": "" }])(
    "is refused with %j",
    async (wrong) => {
      expect((await check({ ...query, ...wrong })).status).toBe(403);
    },
  );
});

describe("a signature", () => {
  const check = ({ raw_body_hex, app_secret, value }: (typeof vectors.valid)[number]) =>
    isSigned(app_secret, Buffer.from(raw_body_hex, "hex"), value);

  test.each(vectors.valid)("is valid: $name", (vector) => {
    expect(check(vector)).toBe(true);
  });

  test.each(vectors.must_fail)("is not valid: $name", (vector) => {
    expect(check(vector)).toBe(false);
  });

  test("of 1,000 changed bodies accepts none", async () => {
    const body = Buffer.from(JSON.stringify(envelope(messagesChange({ messages: [inboundText("Hello")] }))));
    const signature = signatureOf(body);
    const before = [await count("messages"), await count("jobs")];
    const statuses = new Set<number>();
    const changes = iterations(200, 1_000);
    for (let index = 0; index < changes; index += 1) {
      const changed = Buffer.from(body);
      // From the beginning to the end of the body.
      const at = Math.floor((index * body.length) / changes);
      changed.writeUInt8(changed.readUInt8(at) ^ (1 + (index % 255)), at);
      statuses.add((await post(changed, signature)).status);
    }
    // From the 31st on in a minute, none is read.
    expect([...statuses]).toEqual([400, 429]);
    expect([await count("messages"), await count("jobs")]).toEqual(before);
    await app.advanceTime(60_000);
    expect((await post(body, signature)).status).toBe(200);
  });

  test.each(["", "sha256=", "sha1=18fe", `sha256=${"0".repeat(64)}`])("%j is refused", async (signature) => {
    const response = await post("{}", signature);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("webhook_not_signed");
  });

  test("of another inbox's secret, and an address without an inbox, are refused alike", async () => {
    const body = JSON.stringify(envelope());
    const forged = await post(body, signatureOf(body, "another-secret"));
    const missing = await postWebhook(app, { callback_url: `${inbox.callback_url}x` }, { body });
    expect([forged.status, missing.status]).toEqual([400, 400]);
  });
});

describe("an address without an inbox", () => {
  const guess = (number: number) =>
    postWebhook(app, { callback_url: `${inbox.callback_url}${number}` }, { body: "{}" });

  test("is limited to 30 guesses a minute for a network, which block no inbox", async () => {
    await app.advanceTime(60_000);
    const other = { phone_number: "+16315555556", credentials: { ...credentials, phone_number_id: "1" } };
    graph.routes["GET phone_numbers"] = () => ({
      body: { data: [{ id: "1", display_phone_number: "+1 631-555-5556" }] },
    });
    const unused = await createWhatsAppInbox(app, other);
    const statuses = [];
    for (let number = 1; number <= 32; number += 1) {
      statuses.push((await guess(number)).status);
    }
    expect(statuses).toEqual([...Array(30).fill(400), 429, 429]);
    const body = JSON.stringify(envelope());
    for (const { callback_url } of [inbox, unused]) {
      expect((await postWebhook(app, { callback_url }, { body })).status).toBe(200);
    }
    const { pathname } = new URL(`${inbox.callback_url}x`);
    expect((await app.fetch(pathname, { key: null })).status).toBe(429);
    await app.advanceTime(60_000);
    expect((await app.fetch(pathname, { key: null })).status).toBe(403);
  });

  test("is answered before the body is read", async () => {
    const head = `POST ${new URL(`${inbox.callback_url}x`).pathname} HTTP/1.1\r\nHost: localhost`;
    const { status } = await sendRaw(app.address, `${head}\r\nContent-Length: 3000000\r\n\r\n`);
    expect(status).toBe(400);
  });
});

test("another spelling of an address has the same limit", async () => {
  await app.advanceTime(60_000);
  for (let number = 1; number <= 30; number += 1) {
    expect((await post("{}", "sha256=")).status).toBe(400);
  }
  const callback_url = inbox.callback_url?.replace("/webhooks/whatsapp/o", "/webhooks/whatsapp/%6f") ?? null;
  expect(callback_url).not.toBe(inbox.callback_url);
  expect((await postWebhook(app, { callback_url }, { body: JSON.stringify(envelope()) })).status).toBe(429);
  await app.advanceTime(60_000);
  expect((await postWebhook(app, { callback_url }, { body: JSON.stringify(envelope()) })).status).toBe(200);
});

test("the inbox has the time of the last signed request, which is stored at most once a minute", async () => {
  const read = async () => {
    const { data } = await app.call(inboxes.list_inboxes, {});
    return data.find(({ id }) => id === inbox.id)?.last_webhook_at;
  };
  const body = JSON.stringify(envelope());
  await app.advanceTime(60_000);
  const before = await read();
  await post(body, signatureOf(body, "another-secret"));
  expect(await read()).toBe(before);
  await post(body);
  const first = app.now().toISOString();
  expect(await read()).toBe(first);
  await app.advanceTime(59_000);
  await post(body);
  expect(await read()).toBe(first);
  await app.advanceTime(1_000);
  await post(body);
  expect(await read()).toBe(app.now().toISOString());
});

describe("a request", () => {
  test("with 1,000 messages is stored completely before its answer", async () => {
    const messages = Array.from({ length: 1_000 }, (_, index) =>
      inboundText("Hello", { from: `1415666${1000 + index}` }),
    );
    const before = await count("jobs");
    const { status } = await post(JSON.stringify(envelope(messagesChange({ messages }))));
    expect([status, (await count("jobs")) - before]).toEqual([200, 1_000]);
    const run = iterations(50, 1_000);
    const { queries } = app.server.database;
    const added = queries.selectFrom("jobs").select("id").where("schedule", "is", null).orderBy("id", "desc");
    await queries
      .deleteFrom("jobs")
      .where("id", "in", added.limit(1_000 - run))
      .execute();
    await app.runDueJobs();
    const stored = await app.server.database.queries
      .selectFrom("messages")
      .select("id")
      .where("from", "like", "+1415666%")
      .execute();
    expect(stored.length).toBe(run);
  }, 240_000);

  test("with more than 1,000 updates, or more than 3 MB, is refused", async () => {
    const statuses = Array.from({ length: 1_001 }, (_, index) => ({
      id: `wamid.${index}`,
      status: "sent",
      timestamp: "1772998034",
    }));
    const many = await post(JSON.stringify(envelope(messagesChange({ statuses }))));
    const large = await post(JSON.stringify({ text: "x".repeat(3_000_001) }));
    expect([many.status, large.status]).toEqual([413, 413]);
  });

  test.each([
    ["an unknown field", JSON.stringify(envelope({ field: "security", value: { event: "PIN_CHANGED" } }))],
    ["unknown members", JSON.stringify({ ...envelope(messagesChange({ novelty: [1] })), more: true })],
    [
      "messages of an unknown form",
      JSON.stringify(envelope(messagesChange({ messages: [{ id: 5 }, null] }))),
    ],
    [
      "a number of nobody",
      JSON.stringify(
        envelope({
          field: "messages",
          value: { metadata: { phone_number_id: "999" }, messages: [inboundText("Hello")] },
        }),
      ),
    ],
    [
      "a text that PostgreSQL can't store",
      JSON.stringify(envelope(messagesChange({ messages: [inboundText("a\u0000b\ud800")] }))),
    ],
  ])("with %s is answered 200", async (_, body) => {
    expect((await post(body)).status).toBe(200);
    await app.runDueJobs();
  });

  test("that is not JSON is refused, although it is signed", async () => {
    expect((await post("no JSON")).status).toBe(400);
  });

  test("that comes twice stores its message once", async () => {
    const body = JSON.stringify(envelope(messagesChange({ messages: [inboundText("Once")] })));
    const before = await count("messages");
    for (const _ of [1, 2]) {
      expect((await post(body)).status).toBe(200);
      await app.runDueJobs();
    }
    expect((await count("messages")) - before).toBe(1);
  });
});

describe("receipts", () => {
  const receipt = (id: string, status: string, seconds: number, more: object = {}) => ({
    id,
    status,
    timestamp: String(1_772_998_000 + seconds),
    recipient_id: "14155550123",
    ...more,
  });

  test("in any order and twice lead to the highest state, with each time", async () => {
    await openWindow(app, inbox);
    const { read } = await sendText(app, inbox);
    const id = `wamid.${graph.sent().length}`;
    const read_ = receipt(id, "read", 30);
    const statuses = [
      read_,
      receipt(id, "delivered", 20),
      read_,
      receipt(id, "sent", 10),
      receipt(id, "failed", 40),
    ];
    await deliver(app, inbox, messagesChange({ statuses }), messagesChange({ statuses }));
    expect(await read()).toMatchObject({
      status: "read",
      sent_at: new Date(1_772_998_010_000).toISOString(),
      delivered_at: new Date(1_772_998_020_000).toISOString(),
      read_at: new Date(1_772_998_030_000).toISOString(),
      error: null,
    });
  });

  test("that arrive before our own answer are applied when it does", async () => {
    await openWindow(app, inbox);
    const id = `wamid.${graph.sent().length + 1}`;
    await deliver(app, inbox, messagesChange({ statuses: [receipt(id, "delivered", 5)] }));
    const { read } = await sendText(app, inbox);
    expect((await read()).status).toBe("delivered");
  });

  test("with a price set what the message costs", async () => {
    await openWindow(app, inbox);
    const { id, read } = await sendText(app, inbox);
    const pricing = { billable: true, pricing_model: "PMP", type: "free_entry_point", category: "marketing" };
    const statuses = [receipt(`wamid.${graph.sent().length}`, "delivered", 9, { pricing })];
    await deliver(app, inbox, messagesChange({ statuses }));
    expect((await read()).status).toBe("delivered");
    const row = await app.server.database.queries
      .selectFrom("messages")
      .select("charge")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    expect(row.charge).toMatchObject({ status: "settled", price: 0, category: "marketing" });
  });
});
