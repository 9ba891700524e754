/** A process that follows the owner of a data folder forwards requests to the owner, and nowhere else. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { closeProxy, createProxy } from "../src/cli/serve/proxy/index.ts";
import { contacts } from "../tools/contacts.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { sendRaw } from "./support/raw-http.ts";
import { startReceiver } from "./support/receiver.ts";
import { startUpstream } from "./support/scripted-service.ts";

const app = useTestApp({ env: { TIDINGS_TRUSTED_PROXIES: "127.0.0.1" } });
const servers: Server[] = [];
/** Of the last proxy. */
let stopping = new AbortController();

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** @returns the proxy's port. */
async function startProxy(options: { to?: string; trustedProxies?: string[] } = {}): Promise<number> {
  const { to, trustedProxies = [] } = options;
  stopping = new AbortController();
  const server = createProxy({
    address: async () => to ?? app.address,
    bodyLimit: 1_000,
    trustedProxies,
    stopping: stopping.signal,
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port; // it listens on a TCP port
}

const host = "Host: 127.0.0.1";
const close = "Connection: close";
const json = "Content-Type: application/json";
const form = "Content-Type: multipart/form-data; boundary=b";

function chunked(body: string): string[] {
  return ["Transfer-Encoding: chunked", "", body.length.toString(16), body, "0", ""];
}

describe("the target of a request", () => {
  test.each([
    "GET http://127.0.0.1:PORT/ HTTP/1.1",
    "GET //127.0.0.1:PORT/ HTTP/1.1",
    "GET ///127.0.0.1:PORT/ HTTP/1.1",
    "POST http://127.0.0.1:PORT/v1/contacts HTTP/1.1",
    "GET 127.0.0.1:PORT HTTP/1.1",
    "OPTIONS * HTTP/1.1",
  ])("%s is rejected and reaches no other server", async (line) => {
    await using other = await startReceiver();
    const port = await startProxy();
    const answer = await sendRaw(port, [line.replace("PORT", String(other.port)), host, close, ""]);
    expect(answer).toMatchObject({
      status: 400,
      headers: { "content-type": "application/json" },
      body: expect.stringContaining('"code":"malformed_request"'),
    });
    expect(other.connections).toBe(0);
  });

  test("a path that contains an address is the owner's", async () => {
    await using other = await startReceiver();
    await using owner = await startUpstream([{}]);
    const path = `/@127.0.0.1:${other.port}/\\..//x?url=http://127.0.0.1:${other.port}`;
    await sendRaw(await startProxy({ to: owner.url }), [`GET ${path} HTTP/1.1`, host, close, ""]);
    expect(owner.requests).toMatchObject([{ path }]);
    expect(other.connections).toBe(0);
  });
});

describe("the Host header", () => {
  test.each([
    ["another host's", ["Host: evil.example"]],
    ["another host's, named by Connection", ["Host: evil.example", "Connection: host"]],
  ])("%s: /mcp rejects it, as it does without the proxy", async (_, headers) => {
    const answer = await sendRaw(await startProxy(), ["POST /mcp HTTP/1.1", ...headers, close, ""]);
    const body = expect.stringContaining('"code":"host_not_allowed"');
    expect(answer).toMatchObject({ status: 403, body });
  });

  test("a request without it is rejected, not forwarded under the owner's", async () => {
    await using owner = await startUpstream([{}]);
    const answer = await sendRaw(await startProxy({ to: owner.url }), ["POST /mcp HTTP/1.0", ""]);
    expect(answer.status).toBe(400);
    expect(owner.requests).toEqual([]);
  });
});

describe("the body of a request", () => {
  const key = `X-API-Key: ${ownerKey}`;

  test("may be chunked", async () => {
    const body = JSON.stringify({ phone_number: "+14155550181" });
    const lines = ["POST /v1/contacts HTTP/1.1", host, close, json, key, ...chunked(body)];
    expect(await sendRaw(await startProxy(), lines)).toMatchObject({ status: 201 });
    expect((await app.call(contacts.list_contacts, {})).data).toMatchObject([
      { phone_number: "+14155550181" },
    ]);
  });

  test("may be a chunked form", async () => {
    const part = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain';
    const body = `--b\r\n${part}\r\n\r\nhello\r\n--b--\r\n`;
    const lines = ["POST /v1/uploads HTTP/1.1", host, close, form, key, ...chunked(body)];
    const answer = await sendRaw(await startProxy(), lines);
    expect(answer).toMatchObject({ status: 201, body: expect.stringContaining("a.txt") });
  });

  test.each(["DELETE", "GET", "POST"])(
    "a chunked form of a %s is one request to the owner",
    async (method) => {
      await using owner = await startUpstream([{}]);
      const hidden = "GET /hidden HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
      const lines = [`${method} /form HTTP/1.1`, host, close, form, ...chunked(hidden)];
      await sendRaw(await startProxy({ to: owner.url }), lines);
      expect(owner.requests).toMatchObject([{ path: "/form", body: Buffer.from(hidden) }]);
    },
  );

  test("one that is too large is rejected with the error envelope", async () => {
    const lines = ["POST /v1/contacts HTTP/1.1", host, json, key, ...chunked("x".repeat(1_001))];
    const body = expect.stringContaining('"code":"body_too_large"');
    expect(await sendRaw(await startProxy(), lines)).toMatchObject({ status: 413, body });
  });
});

test("a request whose client is gone is not sent again", async () => {
  await using owner = await startUpstream(["hang"]);
  const port = await startProxy({ to: owner.url });
  const leaving = new AbortController();
  const running = fetch(`http://127.0.0.1:${port}/first`, { signal: leaving.signal });
  running.catch(() => undefined); // awaited below
  await expect.poll(() => owner.requests).toHaveLength(1);
  leaving.abort();
  await expect(running).rejects.toThrow("aborted");
  const connections = promisify(lastServer().getConnections.bind(lastServer()));
  await expect.poll(connections).toBe(0);
  owner.respond = () => ({});
  await fetch(`http://127.0.0.1:${port}/second`);
  expect(owner.requests.map(({ path }) => path)).toEqual(["/first", "/second"]);
});

describe("headers", () => {
  test("that concern one connection only are dropped in both directions, and those that Connection names", async () => {
    const own = { "keep-alive": "timeout=5", connection: "close, X-Hop", "x-hop": "1", "x-end": "2" };
    await using owner = await startUpstream([{ headers: { ...own, "proxy-authenticate": "Basic" } }]);
    const sent = ["Proxy-Authorization: Basic eDp5", "TE: trailers", "Upgrade: h2c", "Keep-Alive: 5"];
    const named = ["Connection: close, X-Hop, Upgrade", "X-Hop: 1", "X-End: 2", "Proxy-Connection: close"];
    const port = await startProxy({ to: owner.url });
    const answer = await sendRaw(port, ["GET / HTTP/1.1", host, ...sent, ...named, ""]);

    const received = owner.requests[0]?.headers ?? {};
    expect(received["x-end"]).toBe("2");
    expect(Object.keys(received).sort()).toEqual(
      ["connection", "content-length", "host", "x-end", "x-forwarded-for"].sort(),
    );
    expect(received.connection).not.toContain("X-Hop");
    expect(answer.headers).toMatchObject({ "x-end": "2", connection: "close" });
    expect(Object.keys(answer.headers)).not.toContain("x-hop");
    expect(Object.keys(answer.headers)).not.toContain("proxy-authenticate");
    expect(Object.keys(answer.headers)).not.toContain("keep-alive");
  });

  test("an idempotency key that Connection names makes no request repeatable", async () => {
    await using owner = await startUpstream(["break"]);
    const named = ["Connection: close, Idempotency-Key", "Idempotency-Key: 1"];
    const lines = ["POST / HTTP/1.1", host, ...named, "Content-Length: 0", ""];
    expect(await sendRaw(await startProxy({ to: owner.url }), lines)).toMatchObject({ status: 503 });
    expect(owner.requests).toHaveLength(1);
  });
});

describe("X-Forwarded-For", () => {
  const fake = ["X-Forwarded-For: 203.0.113.7", "X-Real-IP: 203.0.113.7", "Forwarded: for=203.0.113.7"];

  test("from a client is replaced by its address", async () => {
    await using owner = await startUpstream([{}]);
    await sendRaw(await startProxy({ to: owner.url }), ["GET / HTTP/1.1", host, close, ...fake, ""]);
    expect(owner.requests[0]?.headers["x-forwarded-for"]).toBe("127.0.0.1");
    expect(JSON.stringify(owner.requests[0]?.headers)).not.toContain("203.0.113.7");
  });

  test.each(["127.0.0.1", "127.0.0.0/8"])("from a trusted proxy (%s) is extended", async (network) => {
    await using owner = await startUpstream([{}]);
    const port = await startProxy({ to: owner.url, trustedProxies: ["10.0.0.0/8", "::1", network] });
    await sendRaw(port, ["GET / HTTP/1.1", host, close, ...fake, ""]);
    expect(owner.requests[0]?.headers["x-forwarded-for"]).toBe("203.0.113.7, 127.0.0.1");
  });

  test("gives no client more sign-in attempts, even where the owner trusts this machine", async () => {
    const port = await startProxy();
    const attempt = (number: number) => {
      const body = JSON.stringify({ email: `user${number}@example.com`, password: "wrong password" });
      const from = `X-Forwarded-For: 203.0.113.${number}`;
      const length = `Content-Length: ${body.length}`;
      return sendRaw(port, ["POST /v1/auth/login HTTP/1.1", host, close, json, from, length, "", body]);
    };
    const statuses: number[] = [];
    for (let number = 0; number < 6; number += 1) {
      statuses.push((await attempt(number)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });
});

describe("a proxy that closes", () => {
  test("forwards the answer of a running request first, and accepts no other", async () => {
    const answers: (() => void)[] = [];
    await using owner = await startUpstream(async () => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return { body: { data: "done" } };
    });
    const port = await startProxy({ to: owner.url });
    const running = fetch(`http://127.0.0.1:${port}/v1/contacts`);
    const answer = await meanwhile(running, async () => {
      await expect.poll(() => answers).toHaveLength(1);
      const closing = closeProxy(lastServer(), 60_000);
      closing.catch(() => undefined); // awaited below
      await expect(fetch(`http://127.0.0.1:${port}/v1/contacts`)).rejects.toThrow("fetch failed");
      answers[0]?.();
      await closing;
    });
    expect(await answer.json()).toEqual({ data: "done" });
  });

  test("ends streams of events at once", async () => {
    const port = await startProxy();
    const headers = { "X-API-Key": ownerKey };
    const stream = await fetch(`http://127.0.0.1:${port}/v1/events/stream`, { headers });
    expect(stream.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const ended = stream.text();
    ended.catch(() => undefined); // awaited below
    stopping.abort();
    await closeProxy(lastServer(), 60_000);
    await expect(ended).rejects.toThrow("terminated");
  });

  test("ends a request that takes longer than the grace", async () => {
    await using owner = await startUpstream(["hang"]);
    const port = await startProxy({ to: owner.url });
    const running = fetch(`http://127.0.0.1:${port}/v1/contacts`);
    running.catch(() => undefined); // awaited below
    await expect.poll(() => owner.requests).toHaveLength(1);
    await closeProxy(lastServer(), 1);
    await expect(running).rejects.toThrow("fetch failed");
  });
});

function lastServer(): Server {
  return servers.at(-1) ?? expect.fail("there is no proxy");
}
