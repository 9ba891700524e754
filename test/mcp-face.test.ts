/** The MCP face: what clients of every revision see, over HTTP and over stdio. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../src/client.ts";
import { createMcpHttpHandler, type McpHttpOptions } from "../src/mcp/http.ts";
import { serveOverStdio } from "../src/mcp/stdio.ts";
import { catalogue } from "../tools/index.ts";
import { allScopes, type Scope } from "../tools/scopes.ts";
import { describeTools } from "../tools/tool.ts";
import { type Asked, type Scripted, startUpstream, type Upstream } from "./support/upstream.ts";

/** What each key may do. */
const keys: Readonly<Record<string, readonly Scope[]>> = {
  sk_live_all: allScopes,
  sk_live_reader: ["contacts:read"],
};
const scopesOf = (key: unknown) => keys[String(key)];

const quiet = { debug: () => undefined, info: () => undefined, warn: vi.fn(), error: vi.fn() };
const names = (list: { tools: { name: string }[] }) => list.tools.map(({ name }) => name);
const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? "";

const contact = { id: "con_1", phone_number: "+14155550123", name: "Ann" };
const failing = (status: number, error: object, headers = {}): Scripted => ({
  status,
  headers,
  body: { error },
});

let upstream: Upstream;
let face: { url: string; close(): Promise<void> };

const answers: Readonly<Record<string, (asked: Asked) => Scripted>> = {
  "GET /v1/whoami": ({ headers }) => ({ body: { data: { scopes: scopesOf(headers["x-api-key"]) } } }),
  "GET /v1/contacts/con_1": () => ({ body: { data: contact } }),
};

function answer(asked: Asked): Scripted {
  return (
    answers[`${asked.method} ${asked.path}`]?.(asked) ?? { body: { data: { id: "msg_1", status: "queued" } } }
  );
}

async function serveHttp(options: Partial<McpHttpOptions> = {}) {
  const client = createClient({ baseUrl: upstream.url, backoffMs: 1 });
  const handler = createMcpHttpHandler({
    client,
    version: "0.0.0",
    log: quiet,
    async authenticate(key) {
      const scopes = scopesOf(key);
      return scopes && { scopes: new Set(scopes) };
    },
    ...options,
  });
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // a TCP port, as just asked for
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      server.closeAllConnections();
      server.close();
      await client.close();
    },
  };
}

beforeAll(async () => {
  upstream = await startUpstream(answer);
  face = await serveHttp();
});
beforeEach(() => {
  upstream.asked.length = 0;
});
afterEach(() => {
  upstream.answer = answer;
});
afterAll(async () => {
  await face.close();
  await upstream[Symbol.asyncDispose]();
});

const info = { name: "test", version: "0" };
const program = (key: string) => ({
  command: process.execPath,
  args: ["--import", "tsx", "test/support/mcp-stdio.ts"],
  env: { PATH: process.env.PATH ?? "", TIDINGS_URL: upstream.url, TIDINGS_KEY: key },
  stderr: "pipe" as const,
});
const withKey = (key: string) => ({ requestInit: { headers: { "x-api-key": key } } });
const pinned = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

interface Connected {
  listTools(): Promise<{ tools: { name: string; outputSchema?: unknown }[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown>; _meta?: object }): Promise<object>;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

async function connectV2(options: object, transport: HttpV2 | StdioV2): Promise<Connected> {
  const client = new ClientV2(info, options);
  await client.connect(transport);
  return client as Connected;
}

async function connectV1(transport: HttpV1 | StdioV1): Promise<Connected> {
  const client = new ClientV1(info);
  await client.connect(transport);
  return client as Connected;
}

const http = (key: string) => new HttpV2(new URL(face.url), withKey(key));
const clients: readonly (readonly [string, (key: string) => Promise<Connected>])[] = [
  ["v2, 2025 handshake, HTTP", (key) => connectV2({}, http(key))],
  ["v2, 2026-07-28, HTTP", (key) => connectV2(pinned, http(key))],
  ["v1, HTTP", (key) => connectV1(new HttpV1(new URL(face.url), withKey(key)))],
  ["v2, 2025 handshake, stdio", (key) => connectV2({}, new StdioV2(program(key)))],
  ["v2, 2026-07-28, stdio", (key) => connectV2(pinned, new StdioV2(program(key)))],
  ["v1, stdio", (key) => connectV1(new StdioV1(program(key)))],
];

describe.each(clients)("a client of %s", (_, connect) => {
  let all: Connected;
  let reader: Connected;
  beforeAll(async () => {
    [all, reader] = await Promise.all([connect("sk_live_all"), connect("sk_live_reader")]);
  });
  afterAll(async () => {
    await Promise.all([all.close(), reader.close()]);
  });

  test("lists the tools that the key may call, in the catalogue's order", async () => {
    const everything = describeTools(catalogue);
    expect(names(await all.listTools())).toEqual(everything.map(({ name }) => name));
    const readable = everything.filter(({ scope }) => scope === null || scope === "contacts:read");
    expect(names(await reader.listTools())).toEqual(readable.map(({ name }) => name));
    expect(all.getInstructions()).toContain("24 hours");
  });

  test("is given the answer twice: as an object and as compact JSON", async () => {
    await all.listTools();
    const result = await all.callTool({ name: "get_contact", arguments: { id: "con_1" } });
    expect(result).toMatchObject({ structuredContent: { data: contact } });
    expect(textOf(result)).toBe(JSON.stringify({ data: contact }));
  });

  test("sends, with the arguments where the route expects them, under the caller's key", async () => {
    await all.callTool({ name: "send_message", arguments: { to: "+14155550123", body: "hi" } });
    const [asked] = upstream.asked.filter(({ path }) => path === "/v1/messages");
    expect(asked?.body).toEqual({ to: "+14155550123", type: "text", text: { body: "hi" } });
    expect(asked?.headers).toMatchObject({
      "x-api-key": "sk_live_all",
      "idempotency-key": expect.any(String),
    });
  });

  test("hands over an idempotency key and the trace", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const _meta = { "io.tidings/idempotency-key": "order-7", traceparent };
    const call = { name: "send_message", arguments: { to: "+14155550123", body: "hi" }, _meta };
    const result = await all.callTool(call);
    expect(upstream.asked.at(-1)?.headers).toMatchObject({ "idempotency-key": "order-7", traceparent });
    expect(result).toMatchObject({ _meta: { "io.tidings/idempotency-key": "order-7" } });
  });

  test("is refused what its key may not do, without asking the service", async () => {
    await reader.listTools();
    upstream.asked.length = 0;
    const result = await reader.callTool({
      name: "send_message",
      arguments: { to: "+14155550123", body: "hi" },
    });
    expect(result).toMatchObject({ isError: true });
    expect(result).not.toHaveProperty("structuredContent");
    expect(textOf(result)).toContain("send_message failed: insufficient_scope (403)");
    expect(textOf(result)).toContain("inbox:write");
    expect(upstream.asked).toEqual([]);
  });

  test("meets an error of the protocol for an unknown tool", async () => {
    await expect(all.callTool({ name: "launch_rocket" })).rejects.toMatchObject({ code: -32602 });
  });

  test("reads what the service refused, and what to do next", async () => {
    const error = {
      type: "business_rule",
      code: "outside_service_window",
      message: "The 24-hour service window is closed.",
      fix: "Send an approved template.",
      window_expired_at: "2026-01-01T00:00:00Z",
    };
    upstream.answer = () => failing(422, error, { "x-request-id": "req_1" });
    const result = await all.callTool({
      name: "send_message",
      arguments: { to: "+14155550123", body: "hi" },
    });
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toBe(
      "send_message failed: outside_service_window (422). The 24-hour service window is closed. " +
        'window_expired_at: "2026-01-01T00:00:00Z". Next: Send an approved template. Request id req_1.',
    );
  });
});

describe("what a failed call says", () => {
  let client: Connected;
  beforeAll(async () => {
    client = await connectV2(pinned, http("sk_live_all"));
  });
  afterAll(() => client.close());

  const list = { name: "list_contacts", arguments: {} };
  const send = { name: "send_message", arguments: { to: "+14155550123", body: "hi" } };

  test("an unknown argument is named, with the known ones", async () => {
    const text = textOf(await client.callTool({ ...send, arguments: { ...send.arguments, colour: "red" } }));
    expect(text).toBe(
      "send_message failed: unknown_argument (400). Unknown argument: colour. Next: Known arguments: to, body.",
    );
  });

  test("every field that is wrong is named", async () => {
    const text = textOf(await client.callTool({ name: "send_message" }));
    expect(text).toContain("to: This field is required.");
    expect(text).toContain("Field body: This field is required.");
    expect(upstream.asked).toEqual([]);
  });

  test.each([
    [401, "Check the API key"],
    [403, "Use a key that may do this"],
    [404, "Find the id"],
    [409, "Look at the present state"],
    [500, "Try again in a moment"],
  ])("a bare %i says what to do next", async (status, next) => {
    upstream.answer = () => ({ status, body: "<html>10.0.0.5</html>" });
    const text = textOf(await client.callTool(list));
    expect(text).toContain(`list_contacts failed: http_${status} (${status}).`);
    expect(text).toContain(`Next: ${next}`);
    expect(text).not.toContain("10.0.0.5");
  });

  test("a 429 names the seconds and is not slept over", async () => {
    upstream.answer = () => ({ status: 429, headers: { "retry-after": "7" } });
    expect(textOf(await client.callTool(list))).toContain("Next: Wait 7 s and call again.");
    expect(upstream.asked).toHaveLength(1);
  });

  test("a write that may have been done is said to be so", async () => {
    upstream.answer = () => "break";
    const text = textOf(await client.callTool(send));
    expect(text).toContain("send_message failed: unreachable.");
    expect(text).toContain("It may have been done all the same");
  });

  test("an id of dots reaches no other operation", async () => {
    const text = textOf(await client.callTool({ name: "delete_contact", arguments: { id: ".." } }));
    expect(text).toContain('id: ".." is not an id');
    expect(upstream.asked).toEqual([]);
  });
});

describe("the door over HTTP", () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = (more: Record<string, string>, body: unknown = ping, url = face.url) =>
    fetch(url, {
      method: "POST",
      headers: { ...headers, ...more },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const key = { "x-api-key": "sk_live_all" };

  test.each([
    ["x-api-key", "sk_live_all"],
    ["authorization", "Bearer sk_live_all"],
  ])("%s is read", async (name, value) => {
    expect((await post({ [name]: value })).status).toBe(200);
  });

  test.each([
    [{}, "credential_missing"],
    [{ authorization: "Basic abc" }, "credential_missing"],
    [{ "x-api-key": "sk_live_revoked" }, "credential_invalid"],
  ])("%j is answered 401 with a challenge", async (given, code) => {
    const response = await post(given as Record<string, string>);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain("Bearer");
    expect(await response.json()).toMatchObject({ error: { type: "authentication", code } });
  });

  test.each(["https://evil.example", "null", "http://127.0.0.1.evil.example"])(
    "a page of %s is refused",
    async (origin) => {
      const response = await post({ ...key, origin });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { code: "host_not_allowed" } });
    },
  );

  test("a page of this machine or of an allowed origin may ask and read", async () => {
    const open = await serveHttp({ allowedOrigins: ["https://app.example.com"] });
    const asks = {
      method: "OPTIONS",
      headers: { origin: "https://app.example.com", "access-control-request-headers": "x-api-key" },
    };
    const asked = await fetch(open.url, asks);
    expect([asked.status, asked.headers.get("access-control-allow-headers")]).toEqual([204, "x-api-key"]);
    for (const origin of ["https://app.example.com", "http://localhost:3000"]) {
      const response = await post({ ...key, origin }, ping, open.url);
      expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    }
    await open.close();
  });

  test("a host that is not ours is refused", async () => {
    const { port } = new URL(face.url);
    const { request } = await import("node:http");
    const sent = request({
      port,
      host: "127.0.0.1",
      path: "/mcp",
      method: "POST",
      headers: { ...key, host: "evil.example" },
    });
    const [response] = await once(sent.end("{}"), "response");
    expect(response.statusCode).toBe(403);
    response.resume();
  });

  test("a body that is not JSON is a parse error of the protocol", async () => {
    const response = await post(key, "{");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32700 }, id: null });
  });

  test("a body over the limit is refused", async () => {
    const small = await serveHttp({ maxBodyBytes: 100 });
    const response = await post(key, "x".repeat(101), small.url);
    expect(response.status).toBe(413);
    await small.close();
  });

  test("one key has only so many requests at once", async () => {
    const narrow = await serveHttp({ maxConcurrentPerKey: 1 });
    upstream.answer = () => "hang";
    const call = { ...ping, method: "tools/call", params: { name: "list_contacts", arguments: {} } };
    const leave = new AbortController();
    const hanging = fetch(narrow.url, {
      method: "POST",
      headers: { ...headers, ...key },
      body: JSON.stringify(call),
      signal: leave.signal,
    });
    await vi.waitFor(() => expect(upstream.asked).toHaveLength(1));
    const refused = await post(key, ping, narrow.url);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    leave.abort();
    await expect(hanging).rejects.toThrow();
    await vi.waitFor(async () => expect((await post(key, ping, narrow.url)).status).toBe(200));
    await narrow.close();
  });

  test("a look-up that fails is ours, not a wrong key", async () => {
    const broken = await serveHttp({ authenticate: () => Promise.reject(new Error("no database")) });
    const response = await post(key, ping, broken.url);
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain("database");
    await broken.close();
  });

  test("only what is built is listed and called", async () => {
    const part = await serveHttp({ built: new Set(["get_contact"]) });
    const client = await connectV2(pinned, new HttpV2(new URL(part.url), withKey("sk_live_all")));
    expect(names(await client.listTools())).toEqual(["get_contact"]);
    await expect(client.callTool({ name: "list_contacts" })).rejects.toMatchObject({ code: -32602 });
    await client.close();
    await part.close();
  });
});

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: info },
};
const lines = (...asked: object[]) => asked.map((one) => `${JSON.stringify(one)}\n`).join("");
const listing = { jsonrpc: "2.0", id: 2, method: "tools/list" };

describe("the program on stdio", () => {
  function start(env: Record<string, string> = {}) {
    const { command, args, env: usual } = program("sk_live_all");
    const child = spawn(command, args, { env: { ...usual, ...env } });
    const printed: string[] = [];
    const complaints: string[] = [];
    createInterface(child.stdout).on("line", (line) => printed.push(line));
    child.stderr.on("data", (chunk) => complaints.push(String(chunk)));
    return { child, printed, complaints, exited: once(child, "exit") };
  }

  test("prints nothing but JSON-RPC, whatever libraries print", async () => {
    const { child, printed, complaints, exited } = start({ NOISE: "hello from a library" });
    child.stdin.write(lines(initialize, listing));
    await vi.waitFor(() => expect(printed).toHaveLength(2), 5_000);
    expect(printed.map((line) => JSON.parse(line).jsonrpc)).toEqual(["2.0", "2.0"]);
    expect(complaints.join("")).toContain("hello from a library");
    child.stdin.end();
    await exited;
    expect(printed).toHaveLength(2);
  });

  test("is gone soon after its input ends, even with a call running", async () => {
    const { child, printed, exited } = start();
    child.stdin.write(lines(initialize));
    await vi.waitFor(() => expect(printed).toHaveLength(1), 5_000);
    upstream.answer = () => "hang";
    const params = { name: "send_message", arguments: { to: "+14155550123", body: "hi" } };
    child.stdin.write(lines({ jsonrpc: "2.0", id: 3, method: "tools/call", params }));
    await vi.waitFor(() => expect(upstream.asked.at(-1)?.path).toBe("/v1/messages"), 5_000);
    const begun = performance.now();
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
    // The figure to hold is 200 ms; a busy machine is given more here.
    expect(performance.now() - begun).toBeLessThan(500);
  });

  test("answers what was piped in before it leaves", async () => {
    const { child, printed, exited } = start();
    child.stdin.end(lines(initialize, listing));
    await exited;
    expect(printed.map((line) => JSON.parse(line).id)).toEqual([1, 2]);
  });

  test("is gone when nobody reads it any more", async () => {
    const { child, printed, exited } = start();
    child.stdin.write(lines(initialize));
    await vi.waitFor(() => expect(printed).toHaveLength(1), 5_000);
    child.stdout.destroy();
    child.stdin.write(lines(listing));
    expect(await exited).toEqual([0, null]);
  });
});

describe("scopes that are not known", () => {
  function open(scopes: Promise<ReadonlySet<Scope> | undefined>, more: { listWaitMs?: number } = {}) {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const client = createClient({ baseUrl: upstream.url, key: "sk_live_all" });
    const connection = serveOverStdio({
      client,
      version: "0.0.0",
      log: quiet,
      scopes,
      stdin,
      stdout,
      ...more,
    });
    const answers: { result: { tools: { name: string }[] } }[] = [];
    createInterface(stdout).on("line", (line) => answers.push(JSON.parse(line)));
    return { stdin, answers, connection };
  }

  test.each([
    ["that nobody knows", () => Promise.resolve(undefined)],
    ["whose look-up failed", () => Promise.reject(new Error("no"))],
  ])("a key %s sees every tool", async (_, learn) => {
    const { stdin, answers } = open(learn());
    stdin.write(lines(initialize, listing));
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    expect(answers[1]?.result.tools).toHaveLength(describeTools(catalogue).length);
  });

  test("a list does not wait for them for ever; once they are known, they count", async () => {
    let learn: (scopes: ReadonlySet<Scope>) => void = () => undefined;
    const learned = new Promise<ReadonlySet<Scope>>((resolve) => {
      learn = resolve;
    });
    const { stdin, answers } = open(learned, { listWaitMs: 20 });
    stdin.write(lines(initialize, listing));
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    expect(answers[1]?.result.tools).toHaveLength(describeTools(catalogue).length);
    learn(new Set(["contacts:read"]));
    stdin.write(lines({ ...listing, id: 3 }));
    await vi.waitFor(() => expect(answers).toHaveLength(3));
    expect(answers[2]?.result.tools.map(({ name }) => name)).not.toContain("send_message");
  });

  test("an input that had ended before is noticed", async () => {
    const stdin = new PassThrough();
    stdin.end();
    stdin.resume();
    await once(stdin, "end");
    const client = createClient({ baseUrl: upstream.url });
    const scopes = Promise.resolve(undefined);
    await serveOverStdio({ client, version: "0.0.0", log: quiet, scopes, stdin, stdout: new PassThrough() })
      .ended;
  });
});
