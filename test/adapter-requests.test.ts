/** The HTTP client of the adapters: limits of answers, deadlines, connections, retries. */
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createFetchFile } from "../src/adapters/channel/whatsapp/files.ts";
import { askGraph as askWhatsApp } from "../src/adapters/channel/whatsapp/http.ts";
import {
  exchange,
  fetchJson,
  openAnswer,
  readRetryAfter,
  repeatAfterErrors,
  waitAfter,
} from "../src/adapters/http-client/index.ts";
import { askRazorpay } from "../src/adapters/payments/razorpay/http.ts";
import { createS3Storage } from "../src/adapters/storage/s3.ts";
import { startDeadline, withDeadline } from "../src/time/deadline.ts";
import { type Receiver, startReceiver } from "./support/receiver.ts";
import { startUpstream } from "./support/scripted-service.ts";

const urlOf = ({ port }: Receiver) => `http://127.0.0.1:${port}`;
const get = (url: string) => ({ method: "GET", url, headers: {} }) as const;
const never = new AbortController().signal;

describe("an answer", () => {
  const fetchFrom = (receiver: Receiver, maxBytes: number) =>
    withDeadline(5_000, [], (deadline) => fetchJson({ ...get(urlOf(receiver)), maxBytes }, deadline));

  test("of exactly the limit is read, and a longer one is not", async () => {
    await using receiver = await startReceiver((_, response) => response.end('{"a":1}'));
    expect(await fetchFrom(receiver, 7)).toMatchObject({ status: 200, value: { a: 1 }, isTooLong: false });
    expect(await fetchFrom(receiver, 6)).toMatchObject({ status: 200, value: undefined, isTooLong: true });
  });

  test("that is not JSON has no value", async () => {
    await using receiver = await startReceiver((_, response) => response.writeHead(502).end("<html>"));
    expect(await fetchFrom(receiver, 100)).toMatchObject({ status: 502, value: undefined, isTooLong: false });
  });

  test("that is not read to its end is dropped with its connection", async () => {
    const connection = new EventEmitter();
    await using receiver = await startReceiver((_, response) => {
      response.on("close", () => connection.emit("closed")).write("a part");
    });
    const read = async ({ statusCode }: { readonly statusCode: number }) => statusCode;
    const [status] = await Promise.all([
      withDeadline(5_000, [], (deadline) => exchange(get(urlOf(receiver)), deadline, read)),
      once(connection, "closed"),
    ]);
    expect(status).toBe(200);
  });

  test("that has arrived and is not read is dropped without an error event that nothing handles", async () => {
    await using receiver = await startReceiver();
    const closing = await withDeadline(5_000, [], (deadline) =>
      exchange(get(urlOf(receiver)), deadline, async ({ body }) => ({
        closed: new Promise<boolean>((resolve) => body.on("close", () => resolve(body.destroyed))),
      })),
    );
    expect(await closing.closed).toBe(true);
  });

  test.each([
    [
      "WhatsApp",
      4_000_000,
      "WhatsApp's answer is too long.",
      (baseUrl: string) =>
        askWhatsApp(
          {
            settings: { baseUrl, version: "v1", mediaHosts: [] },
            credentials: { access_token: "token", app_secret: "secret" },
            signal: never,
          },
          { method: "GET", path: "/1" },
        ),
    ],
    [
      "Razorpay",
      2_000_000,
      "The payment processor's answer to GET /orders is too long.",
      (baseUrl: string) =>
        askRazorpay(
          { baseUrl, keyId: "id", keySecret: "secret", webhookSecret: "secret" },
          { method: "GET", path: "/orders" },
          never,
        ),
    ],
  ])("of %s may have %i bytes", async (_, limit, message, ask) => {
    let length = limit;
    await using receiver = await startReceiver((_, response) =>
      response.end(JSON.stringify("x".repeat(length - 2))),
    );
    expect(await ask(urlOf(receiver))).toMatchObject({ outcome: "accepted" });
    length = limit + 1;
    await expect(ask(urlOf(receiver))).rejects.toThrow(message);
  });
});

test("a request whose time is over is not sent", async () => {
  await using receiver = await startReceiver();
  const deadline = startDeadline(5_000);
  const { now } = performance;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + 5_000);
  await expect(openAnswer(get(urlOf(receiver)), deadline)).rejects.toThrow("took longer than 5000 ms");
  spy.mockRestore();
  deadline.stop();
  expect(receiver.requests).toBe(0);
});

test("a file of WhatsApp that can't be fetched names the status", async () => {
  let address = "";
  await using receiver = await startReceiver((request, response) => {
    const isFile = request.url === "/file";
    response.writeHead(isFile ? 404 : 200).end(JSON.stringify({ url: `${address}/file` }));
  });
  address = urlOf(receiver);
  const account = {
    phone_number_id: "1",
    waba_id: "2",
    app_id: "3",
    access_token: "token",
    app_secret: "secret",
    verify_token: "verify",
  };
  const fetchFile = createFetchFile({ baseUrl: address, version: "v1", mediaHosts: [] });
  await expect(fetchFile(account, { id: "7", signal: never }, async () => "read")).rejects.toThrow(
    "A file of WhatsApp could not be fetched: status 404.",
  );
});

describe("a request that fails", () => {
  const run = (log: number[]) => async (attempt: number) => {
    log.push(attempt);
    throw new Error(`attempt ${attempt}`);
  };

  test("is tried three times, and throws its last error", async () => {
    const log: number[] = [];
    await expect(repeatAfterErrors(1, run(log))).rejects.toThrow("attempt 3");
    expect(log).toEqual([1, 2, 3]);
    expect([1, 2, 3].map((attempt) => waitAfter(attempt, 500))).toEqual([500, 2_000, undefined]);
  });

  test("is not tried again once it was aborted", async () => {
    const log: number[] = [];
    await expect(repeatAfterErrors(1, run(log), AbortSignal.abort())).rejects.toThrow("attempt 1");
    expect(log).toEqual([1]);
  });

  test.each([
    ["7", 7_000],
    ["0.25", 250],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["soon", undefined],
    [undefined, undefined],
  ])("waits after the Retry-After %j for %j ms", (header, ms) => {
    expect(readRetryAfter({ "retry-after": header })).toBe(ms);
  });
});

describe("a request to the store", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidings-store-"));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const open = (endpoint: string) =>
    createS3Storage(
      { endpoint, region: "local", accessKeyId: "id", secretAccessKey: "secret" },
      "files",
      folder,
    );

  test.each([500, 503])("is repeated after an error of the store: %i", async (status) => {
    await using upstream = await startUpstream([{ status }, { status: 204 }]);
    await open(upstream.url).delete("a/b");
    expect(upstream.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "DELETE /files/a/b",
      "DELETE /files/a/b",
    ]);
  });

  // 300: the status after the last success. A redirect is not followed either: the
  // signature is for one address.
  test.each([300, 307, 403])(
    "is not repeated after a rejection, whose body is not shown: %i",
    async (status) => {
      await using upstream = await startUpstream([{ status, body: { secret: "secret" } }]);
      await expect(open(upstream.url).read("a/b")).rejects.toThrow(
        new RegExp(`^the store answered ${status} to GET$`),
      );
      expect(upstream.requests).toHaveLength(1);
    },
  );

  test("to write or to delete a file fails if the store rejects it", async () => {
    await using upstream = await startUpstream([{ status: 404 }, { status: 403 }]);
    const store = open(upstream.url);
    const metadata = { contentType: "text/plain", disposition: "inline" };
    await expect(store.write("a/b", Readable.from([Buffer.from("text")]), metadata)).rejects.toThrow(
      /^the store answered 404 to PUT$/,
    );
    await expect(store.delete("a/b")).rejects.toThrow(/^the store answered 403 to DELETE$/);
  });

  test("for a file that does not exist finds none", async () => {
    await using upstream = await startUpstream([{ status: 404 }]);
    expect(await open(upstream.url).read("a/b")).toBeUndefined();
  });
});
