/** The client: how it sends an operation, when it retries, and how it fails. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Client, type ClientOptions, createClient } from "../src/client/index.ts";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
import { startReceiver } from "./support/receiver.ts";
import { type ScriptedResponse, startUpstream, type Upstream } from "./support/scripted-service.ts";

const opened: { close(): PromiseLike<void> }[] = [];

afterEach(async () => {
  for (const closable of opened.splice(0)) {
    await closable.close();
  }
});

async function start(script: Parameters<typeof startUpstream>[0], options: Partial<ClientOptions> = {}) {
  const upstream = await startUpstream(script);
  const client = open({ baseUrl: upstream.url, key: "sk_live_1", backoffMs: 1, ...options });
  opened.push({ close: () => upstream[Symbol.asyncDispose]() });
  return { upstream, client };
}

function open(options: ClientOptions): Client {
  const client = createClient(options);
  opened.push(client);
  return client;
}

const text = { to: "+14155550123", type: "text", text: { body: "hi" } } as const;
const paths = ({ requests }: Upstream) => requests.map(({ method, path }) => `${method} ${path}`);
const failing = (status: number, headers = {}): ScriptedResponse => ({
  status,
  headers,
  body: { error: { type: "internal", code: "unavailable", message: "Not now." } },
});

describe("a request", () => {
  test("to a service on this machine never goes through the environment's proxy, whatever its address", async () => {
    await using proxy = await startReceiver();
    vi.stubEnv("HTTP_PROXY", `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv("http_proxy", `http://127.0.0.1:${proxy.port}`);
    const { upstream } = await start([{}]);
    // Not a loopback address, but this machine all the same.
    const baseUrl = upstream.url.replace("127.0.0.1", "0.0.0.0");
    const client = open({ baseUrl, key: "sk_live_1", retries: 0, isDirect: true });
    await client.call(contacts.list_contacts, {}).finally(() => vi.unstubAllEnvs());
    expect(upstream.requests).toHaveLength(1);
    expect(proxy.connections).toBe(0);
  });

  test("a path field is sent in the path, encoded", async () => {
    const { client, upstream } = await start([{}]);
    await client.call(contacts.get_contact, { id: "a/b?c d" });
    expect(paths(upstream)).toEqual(["GET /v1/contacts/a%2Fb%3Fc%20d"]);
  });

  test.each([".", "..", ""])("the id %j never becomes another path", async (id) => {
    const { client, upstream } = await start([{}]);
    await expect(client.call(contacts.delete_contact, { id })).rejects.toMatchObject({
      code: "invalid_request",
    });
    expect(upstream.requests).toEqual([]);
  });

  test("a read's fields are sent in the query", async () => {
    const { client, upstream } = await start([{}]);
    await client.call(contacts.list_contacts, { search: "a&b", page: 2 });
    expect(paths(upstream)).toEqual(["GET /v1/contacts?search=a%26b&page=2"]);
    expect(upstream.requests[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  test("a file is sent as the last part of a form, byte for byte, also in a retry", async () => {
    const bytes = Buffer.from([0, 13, 10, 45, 45, 255]);
    const { client, upstream } = await start([failing(503), {}]);
    await client.call(uploads.upload_file, {
      file_name: 'a "b"\r\nü.bin',
      content_base64: bytes.toString("base64"),
      generate_cdn: true,
    });
    expect(upstream.requests).toHaveLength(2);
    for (const { headers, body } of upstream.requests) {
      const type = String(headers["content-type"]);
      const form = await new Response(body as Buffer<ArrayBuffer>, {
        headers: { "content-type": type },
      }).formData();
      expect([...form.keys()]).toEqual(["generate_cdn", "file"]);
      expect(form.get("generate_cdn")).toBe("true");
      const file = form.get("file") as File; // sent with a file name
      expect(file).toMatchObject({ name: 'a "b"\r\nü.bin', type: "application/octet-stream" });
      expect(Buffer.from(await file.arrayBuffer())).toEqual(bytes);
    }
  });

  test("a write's fields are sent in the body, with an idempotency key", async () => {
    const { client, upstream } = await start([{}]);
    await client.call(contacts.update_contact, { id: "con_1", name: "Ann" });
    expect(upstream.requests[0]).toMatchObject({
      method: "PUT",
      path: "/v1/contacts/con_1",
      body: { name: "Ann" },
    });
    expect(upstream.requests[0]?.headers["idempotency-key"]).toMatch(/^[\w-]{36}$/);
  });

  test("a write without fields has an empty object as its body", async () => {
    const { client, upstream } = await start([{}]);
    await client.call(contacts.update_contact, { id: "con_1" });
    expect(upstream.requests[0]?.body).toEqual({});
  });

  test("a key is sent as X-API-Key, an access token as Bearer", async () => {
    const { client, upstream } = await start([{}]);
    await client.call(contacts.list_contacts, {});
    await client.call(contacts.list_contacts, {}, { key: "eyJ.token" });
    expect(upstream.requests[0]?.headers["x-api-key"]).toBe("sk_live_1");
    expect(upstream.requests[1]?.headers.authorization).toBe("Bearer eyJ.token");
    expect(upstream.requests[1]?.headers).not.toHaveProperty("x-api-key");
  });

  test("a base address may have a path", async () => {
    const upstream = await startUpstream([{}]);
    opened.push({ close: () => upstream[Symbol.asyncDispose]() });
    await open({ baseUrl: `${upstream.url}/api/` }).call(contacts.list_contacts, {});
    expect(paths(upstream)).toEqual(["GET /api/v1/contacts"]);
  });
});

describe("retries", () => {
  test.each([429, 502, 503, 504])(
    "a write is retried after %i with the same idempotency key",
    async (status) => {
      const { client, upstream } = await start([
        failing(status),
        failing(status),
        { body: { data: { id: "msg_1" } } },
      ]);
      expect(await client.call(messages.send_message, text)).toEqual({ data: { id: "msg_1" } });
      const keys = upstream.requests.map(({ headers }) => headers["idempotency-key"]);
      expect(keys).toHaveLength(3);
      expect(new Set(keys).size).toBe(1);
    },
  );

  test("the caller's idempotency key is used in every attempt", async () => {
    const { client, upstream } = await start(["break", {}]);
    await client.call(messages.send_message, text, { idempotencyKey: "order-7" });
    expect(upstream.requests.map(({ headers }) => headers["idempotency-key"])).toEqual([
      "order-7",
      "order-7",
    ]);
  });

  test.each([400, 401, 403, 404, 409, 422, 500])("nothing is retried after %i", async (status) => {
    const { client, upstream } = await start([failing(status), {}]);
    await expect(client.call(contacts.list_contacts, {})).rejects.toMatchObject({ status });
    expect(upstream.requests).toHaveLength(1);
  });

  test("a write is retried while another with the same key is running", async () => {
    const running = {
      error: { type: "idempotency", code: "idempotency_in_progress", message: "Still running." },
    };
    const { client, upstream } = await start([
      { status: 409, headers: { "retry-after": "0" }, body: running },
      {},
    ]);
    await client.call(messages.send_message, text);
    expect(upstream.requests).toHaveLength(2);
  });

  test("the client waits for Retry-After", async () => {
    const sleep = vi.fn(async (_ms: number) => undefined);
    const { client } = await start([failing(429, { "retry-after": "7" }), {}], { sleep });
    await client.call(contacts.list_contacts, {});
    expect(sleep.mock.calls.map(([ms]) => ms)).toEqual([7_000]);
  });

  test.each([
    ["the deadline", { timeoutMs: 5_000 }, "6"],
    ["the longest wait", { maxRetryWaitMs: 2_000 }, "3"],
  ])("a wait that would exceed %s is not started", async (_, options, seconds) => {
    const sleep = vi.fn(async () => undefined);
    const { client, upstream } = await start([failing(429, { "retry-after": seconds })], { sleep });
    const call = client.call(contacts.list_contacts, {}, options);
    await expect(call).rejects.toMatchObject({ status: 429, retryAfterSeconds: Number(seconds) });
    expect(sleep).not.toHaveBeenCalled();
    expect(upstream.requests).toHaveLength(1);
  });

  test("the client gives up after its retries", async () => {
    const { client, upstream } = await start([failing(503)], { retries: 2 });
    await expect(client.call(contacts.list_contacts, {})).rejects.toMatchObject({
      status: 503,
      code: "unavailable",
    });
    expect(upstream.requests).toHaveLength(3);
  });

  test("the address is resolved again for every attempt", async () => {
    const { upstream } = await start([{}]);
    const addresses = ["http://127.0.0.1:1", upstream.url];
    const client = open({ baseUrl: async () => addresses.shift() ?? "", backoffMs: 1 });
    await client.call(messages.send_message, text);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("without a response", () => {
  test("an address without a listener is unreachable, and nothing can have run", async () => {
    const client = open({ baseUrl: "http://127.0.0.1:1", backoffMs: 1 });
    const failure = await client.call(messages.send_message, text).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "unreachable",
      message: "127.0.0.1:1 can't be reached.",
      mayHaveRun: false,
    });
  });

  test("after a broken connection the failure says that the write may have run", async () => {
    const { client, upstream } = await start(["break"], { retries: 1 });
    await expect(client.call(messages.send_message, text)).rejects.toMatchObject({ mayHaveRun: true });
    expect(upstream.requests).toHaveLength(2);
  });

  test("a call to a service that hangs ends at the deadline", async () => {
    const { client } = await start(["hang"]);
    const call = client.call(contacts.list_contacts, {}, { timeoutMs: 100 });
    await expect(call).rejects.toMatchObject({ name: "NoResponseError", code: "timeout" });
  });

  test("an address that does not resolve ends the call at the deadline", async () => {
    const client = open({ baseUrl: () => new Promise(() => undefined), timeoutMs: 50 });
    await expect(client.call(contacts.list_contacts, {})).rejects.toMatchObject({ code: "timeout" });
  });

  test("an aborted call rejects with the caller's reason", async () => {
    const { client } = await start(["hang"]);
    const controller = new AbortController();
    const call = client.call(contacts.list_contacts, {}, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
  });
});

describe("a response that is no success", () => {
  test("the service's error envelope is passed on whole, with the request id", async () => {
    const error = {
      type: "conflict",
      code: "contact_exists",
      message: "Known.",
      fix: "Use it.",
      existing_id: "con_1",
    };
    const { client } = await start([{ status: 409, headers: { "x-request-id": "req_1" }, body: { error } }]);
    const call = client.call(contacts.create_contact, { phone_number: "+14155550123" });
    await expect(call).rejects.toMatchObject({
      status: 409,
      code: "contact_exists",
      error,
      requestId: "req_1",
    });
  });

  test.each([
    ["a flat body", { message: "No such thing", code: "nope" }],
    ["OAuth's form", { error: "invalid_token", error_description: "Too old" }],
    ["a type of error that is not ours", { error: { type: "db_error", code: "x", message: "No such row" } }],
  ])("%s is not passed on", async (_, body) => {
    const { client } = await start([{ status: 404, body }]);
    await expect(client.call(contacts.list_contacts, {})).rejects.toMatchObject({
      code: "http_404",
      message: "The service answered 404 Not Found.",
      error: undefined,
    });
  });

  test("a success that is not JSON is a failure", async () => {
    const { client } = await start([{ body: "<html>" }]);
    await expect(client.call(contacts.list_contacts, {})).rejects.toMatchObject({
      code: "not_json",
      status: 200,
    });
  });

  test("a redirection is not followed: the key stays with the service", async () => {
    const { client, upstream } = await start([{ status: 302, headers: { location: "/elsewhere" } }]);
    await expect(client.call(contacts.list_contacts, {})).rejects.toMatchObject({ status: 302 });
    expect(upstream.requests).toHaveLength(1);
  });

  test("a response of more than 20 MB is rejected", async () => {
    const { client } = await start([{ body: { data: "x".repeat(20_000_000) } }], { retries: 0 });
    await expect(client.call(contacts.list_contacts, {})).rejects.toThrow("more than 20 MB");
  });
});
