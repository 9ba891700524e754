/** The guarded web: which addresses are never reached, and what an exchange costs at most. */
import { setMaxListeners } from "node:events";
import type { RequestListener } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readSubnet } from "../src/adapters/web/addresses.ts";
import { ForbiddenAddressError, openAgent } from "../src/adapters/web/connect.ts";
import { createWeb, type WebOptions } from "../src/adapters/web/index.ts";
import { createWebRules } from "../src/adapters/web/rules.ts";
import type { SendRequest, WebRequest } from "../src/ports/web.ts";
import { certificate, certificateKey } from "./support/certificate.ts";
import { type ConnectionAttempts, recordConnectionAttempts } from "./support/connection-attempts.ts";
import { forbiddenAddresses, forbiddenHosts, toUrlHost } from "./support/forbidden-addresses.ts";
import { startReceiver } from "./support/receiver.ts";

const production = createWebRules({ allow: [], isLocalAllowed: false });
const development = createWebRules({ allow: [], isLocalAllowed: true });
/** Restricts only addresses. */
const anySchemeAndPort = { ...production, schemes: ["http:", "https:"], ports: "any" as const };
/** Treats 127.0.0.1 as public and all other local addresses as private. */
const loopbackIsPublic = { ...anySchemeAndPort, allowed: [readSubnet("127.0.0.1")] };

const resolveNothing = async () => {
  throw new Error("no name must be resolved");
};

const defaults = { method: "GET", timeoutMs: 5_000, maxBytes: 1_000 } as const;

function open(options: Partial<WebOptions> = {}) {
  const web = createWeb({ rules: loopbackIsPublic, resolve: resolveNothing, ...options });
  const send = (url: string, options: Partial<SendRequest> = {}) =>
    web.send({ ...defaults, tooLarge: "cut", url, ...options });
  return {
    check: web.check,
    send,
    /** Resolves with the whole body as text. */
    download: (url: string, options: Partial<WebRequest> = {}) =>
      web.download({ ...defaults, url, ...options }, async ({ body }) => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of body) {
          chunks.push(chunk);
        }
        return Buffer.concat(chunks).toString();
      }),
    web,
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}

const text = (answer: object) => ("body" in answer ? Buffer.from(answer.body as Uint8Array).toString() : "");

let attempts: ConnectionAttempts;
beforeEach(() => {
  attempts = recordConnectionAttempts();
});
afterEach(() => attempts[Symbol.dispose]());

describe("no connection is made to an address that is not public", () => {
  test.each(Object.entries(forbiddenAddresses))(
    "%s, as a literal and behind a name",
    async (_, addresses) => {
      for (const address of addresses) {
        await using web = open({ rules: anySchemeAndPort, resolve: async () => [address] });
        for (const url of [`http://${toUrlHost(address)}:8080/`, `https://${toUrlHost(address)}/`]) {
          expect(web.check(url), url).toMatchObject({ outcome: "forbidden", reason: "address" });
          expect(await web.send(url), url).toMatchObject({ outcome: "forbidden", reason: "address" });
        }
        expect(web.check("https://intranet.example.com/")).toBeUndefined();
        for (const url of ["https://intranet.example.com/", "http://intranet.example.com.:8080/"]) {
          const answer = await web.send(url);
          expect(answer, address).toMatchObject({ outcome: "forbidden", reason: "address" });
          expect(answer).not.toMatchObject({ detail: expect.stringContaining(address) });
          expect(await web.download(url), address).toMatchObject({ outcome: "forbidden" });
        }
      }
      expect(attempts.addresses).toEqual([]);
    },
  );

  test.each(Object.entries(forbiddenHosts))("%s", async (_, hosts) => {
    await using web = open({ rules: anySchemeAndPort });
    for (const url of hosts.flatMap((host) => [`http://${host}:8080/`, `https://${host}/x`])) {
      expect(web.check(url), url).toMatchObject({ reason: "address" });
      expect(await web.send(url), url).toMatchObject({ reason: "address" });
    }
    expect(attempts.addresses).toEqual([]);
  });

  test("the agent rejects it by itself, also as a literal", async () => {
    await using receiver = await startReceiver();
    const { signal: stopping } = new AbortController();
    const agent = await openAgent({ rules: anySchemeAndPort, resolve: async () => ["127.0.0.1"], stopping });
    for (const host of ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "localhost", "intranet.example.com"]) {
      const call = agent.request({ origin: `http://${host}:${receiver.port}`, path: "/", method: "GET" });
      await expect(call, host).rejects.toThrow(ForbiddenAddressError);
    }
    await agent.destroy();
    expect([receiver.connections, attempts.addresses]).toEqual([0, []]);
  });

  test("a name that resolves to a public address first and a private one later", async () => {
    await using outside = await startReceiver((_, response) => {
      response.setHeader("connection", "close").end("ok");
    });
    await using inside = await startReceiver(undefined, { host: "127.0.0.2" });
    const answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1"], ["::1", "10.0.0.1"]];
    await using web = open({ resolve: async () => answers.shift() ?? [] });
    const url = (port: number) => `http://rebinding.example.com:${port}/`;
    expect(await web.send(url(outside.port))).toMatchObject({ outcome: "answered", status: 200 });
    expect(await web.send(url(inside.port))).toMatchObject({ outcome: "forbidden", reason: "address" });
    expect(await web.send(url(outside.port))).toMatchObject({ outcome: "answered", status: 200 });
    expect(await web.send(url(outside.port))).toMatchObject({ outcome: "forbidden" });
    expect(answers).toEqual([]);
    expect(await web.send(url(outside.port))).toMatchObject({ outcome: "failed", reason: "unresolved" });
    expect(inside.connections).toBe(0);
    expect(attempts.addresses).toEqual(["127.0.0.1", "127.0.0.1"]);
  });

  test("of a name with public and private addresses only the public ones are tried", async () => {
    await using outside = await startReceiver();
    await using web = open({ resolve: async () => ["10.0.0.1", "127.0.0.1", "::1", "64:ff9b::7f00:1"] });
    const answer = await web.send(`http://mixed.example.com:${outside.port}/`);
    expect(answer).toMatchObject({ outcome: "answered" });
    expect(attempts.addresses).toEqual(["127.0.0.1"]);
  });

  test("a redirect is returned, and not followed", async () => {
    await using inside = await startReceiver(undefined, { host: "127.0.0.2" });
    const locations = [
      `http://127.0.0.2:${inside.port}/`,
      `http://0x7f.2:${inside.port}/`,
      "file:///etc/passwd",
    ];
    for (const status of [301, 302, 303, 307, 308]) {
      for (const location of locations) {
        await using outside = await startReceiver((_, response) => {
          response.writeHead(status, { location }).end();
        });
        await using web = open();
        const answer = await web.send(`http://127.0.0.1:${outside.port}/`);
        expect(answer).toMatchObject({ outcome: "answered", status, headers: { location } });
      }
    }
    expect(inside.connections).toBe(0);
    expect(new Set(attempts.addresses)).toEqual(new Set(["127.0.0.1"]));
  });

  test("an environment's proxy is ignored", async () => {
    await using proxy = await startReceiver();
    const address = `http://127.0.0.1:${proxy.port}`;
    Object.assign(process.env, { HTTP_PROXY: address, HTTPS_PROXY: address, http_proxy: address });
    try {
      await using web = open({ rules: anySchemeAndPort });
      expect(await web.send("http://10.0.0.1/")).toMatchObject({ outcome: "forbidden" });
    } finally {
      for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy"]) {
        Reflect.deleteProperty(process.env, name);
      }
    }
    expect(proxy.connections).toBe(0);
  });
});

describe("a URL", () => {
  const rejected: readonly [url: string, reason: string, detail: RegExp][] = [
    ["intranet", "url", /https:\/\/host\/path/],
    ["", "url", /not a URL/],
    ["https://", "url", /not a URL/],
    ["https://[fe80::1%25eth0]/", "url", /not a URL/],
    ["https://exa mple.com/", "url", /not a URL/],
    ["http://example.com/", "scheme", /must start with https:\/\/\.$/],
    ["HTTP://EXAMPLE.COM/", "scheme", /https/],
    ["ftp://example.com/", "scheme", /https/],
    ["file:///etc/passwd", "scheme", /https/],
    ["javascript:alert(1)", "scheme", /https/],
    ["gopher://127.0.0.1:6379/_x", "scheme", /https/],
    ["https://ada:secret@example.com/", "credentials", /header/],
    ["https://example.com@127.0.0.1/", "credentials", /user name/],
    ["https://example.com:443@127.0.0.1/", "credentials", /user name/],
    ["https://@127.0.0.1/", "address", /^127\.0\.0\.1 is not/],
    ["https://127.0.0.1\\@example.com/", "address", /^127\.0\.0\.1 is not/],
    ["https://127.0.0.1#@example.com/", "address", /^127\.0\.0\.1 is not/],
    ["https://127.0.0.1\t.\n/", "address", /^127\.0\.0\.1 is not/],
    ["https:127.0.0.1", "address", /^127\.0\.0\.1 is not/],
    ["https:/\\127.0.0.1/", "address", /^127\.0\.0\.1 is not/],
    ["https://example.com:22/", "port", /Port 22 .* 443 and 8443/],
    ["https://example.com:80/", "port", /Port 80 /],
    ["https://example.com:0/", "port", /Port 0 /],
  ];

  test.each(rejected)("%j is rejected: %s", async (url, reason, detail) => {
    await using web = open({ rules: production });
    const failure = { outcome: "forbidden", reason, detail: expect.stringMatching(detail) };
    expect(web.check(url)).toEqual(failure);
    expect(await web.send(url)).toEqual(failure);
    expect(attempts.addresses).toEqual([]);
  });

  test.each([
    "https://example.com/hook?a=1#part",
    "https://EXAMPLE.com:443/",
    "https://example.com.:8443/",
    "https://bücher.example/",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]/",
    "https://[::ffff:8.8.8.8]/",
    "https://localhost.example.com/",
  ])("%s is accepted", async (url) => {
    await using web = open({ rules: production });
    expect(web.check(url)).toBeUndefined();
  });

  test("of an allowed network is accepted by https only", async () => {
    const rules = createWebRules({
      allow: ["10.1.0.0/16", "fd00:1::/32", "192.168.7.7"],
      isLocalAllowed: false,
    });
    await using web = open({ rules });
    const allowed = ["https://10.1.2.3/", "https://[::ffff:10.1.2.3]:8443/", "https://[fd00:1::9]/"];
    expect(allowed.map((url) => web.check(url))).toEqual([undefined, undefined, undefined]);
    const others = ["10.2.0.1", "192.168.7.8", "[fd00:2::1]", "127.0.0.1", "[64:ff9b::a01:203]"];
    for (const host of others) {
      expect(web.check(`https://${host}/`), host).toMatchObject({ reason: "address" });
    }
    expect(web.check("https://192.168.7.7/")).toBeUndefined();
    expect(web.check("http://10.1.2.3/")).toMatchObject({ reason: "scheme" });
    expect(web.check("https://10.1.2.3:8080/")).toMatchObject({ reason: "port" });
  });

  test("of this machine is accepted in development, and of no other private network", async () => {
    await using receiver = await startReceiver();
    await using web = open({ rules: development });
    for (const host of ["127.0.0.1", "localhost", "127.1", "hooks.localhost", "[::ffff:127.0.0.1]"]) {
      expect(await web.send(`http://${host}:${receiver.port}/`), host).toMatchObject({ status: 200 });
    }
    for (const host of ["10.0.0.1", "0.0.0.0", "169.254.169.254", "[fd00::1]", "192.168.0.1"]) {
      expect(await web.send(`http://${host}:${receiver.port}/`), host).toMatchObject({ reason: "address" });
    }
  });

  test("with a header that a customer may not set is rejected", async () => {
    await using receiver = await startReceiver();
    await using web = open();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const wrong = [
      { Host: "intranet" },
      { "Transfer-Encoding": "chunked" },
      { "accept-encoding": "gzip" },
      { "x-a": "1\r\nx-b: 2" },
      { "x-a\r\nx-b": "2" },
      { "": "1" },
      { "x-a": "☃" },
    ] as Readonly<Record<string, string>>[];
    for (const headers of wrong) {
      expect(await web.send(url, { headers }), JSON.stringify(headers)).toMatchObject({ reason: "header" });
    }
    expect(receiver.connections).toBe(0);
  });
});

describe("a request", () => {
  test("sends method, headers and body, and returns the response, over reused connections", async () => {
    const seen: unknown[] = [];
    await using receiver = await startReceiver(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) {
        chunks.push(chunk);
      }
      const { method, url, headers } = request;
      seen.push([
        method,
        url,
        headers["x-mine"],
        headers["accept-encoding"],
        Buffer.concat(chunks).toString(),
      ]);
      response.writeHead(201, { "x-theirs": ["a", "b"] }).end("taken");
    });
    await using web = open();
    const url = `http://127.0.0.1:${receiver.port}/hook?q=1#part`;
    const options = { method: "POST", headers: { "X-Mine": "yes" } } as const;
    const answer = await web.send(url, { ...options, body: "text" });
    expect(answer).toMatchObject({ outcome: "answered", status: 201, isCut: false });
    expect(answer).toMatchObject({ headers: { "x-theirs": "a, b" }, ms: expect.any(Number) });
    expect(text(answer)).toBe("taken");
    await web.send(url, { ...options, body: Buffer.from("bytes") });
    expect(await web.download(url)).toMatchObject({ outcome: "answered", status: 201, value: "taken" });
    expect(seen).toEqual([
      ["POST", "/hook?q=1", "yes", "identity", "text"],
      ["POST", "/hook?q=1", "yes", "identity", "bytes"],
      ["GET", "/hook?q=1", undefined, "identity", ""],
    ]);
    for (let times = 0; times < 20; times += 1) {
      await web.send(url, options);
    }
    // Two, because a connection that has just answered is not free again at once.
    expect(receiver.connections).toBeLessThanOrEqual(2);
  });

  test("closes an idle connection soon, without a keep-alive header of the host", async () => {
    await using web = open();
    let [opened, closed] = [0, 0];
    const server = createServer((socket) => {
      opened += 1;
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
      socket.on("close", () => {
        closed += 1;
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a TCP port
    expect(await web.send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
    expect([opened, closed]).toEqual([1, 0]);
    await expect.poll(() => closed, { timeout: 1_900 }).toBe(1);
    server.close();
  });

  test("over https requires a trusted certificate", async () => {
    await using receiver = await startReceiver(undefined, {
      tls: { key: certificateKey, cert: certificate },
    });
    const resolve = async () => ["127.0.0.1"];
    const at = (host: string) => `https://${host}:${receiver.port}/`;
    await using untrusting = open({ resolve });
    expect(await untrusting.send(at("receiver.test"))).toMatchObject({ outcome: "failed", reason: "tls" });
    expect(receiver.requests).toBe(0);
    await using trusting = open({ resolve, ca: certificate });
    expect(await trusting.send(at("receiver.test"))).toMatchObject({ outcome: "answered", status: 200 });
    expect(await trusting.send(at("other.test"))).toMatchObject({ outcome: "failed", reason: "tls" });
    expect(receiver.requests).toBe(1);
  });

  const never: RequestListener = () => undefined;
  const drip: RequestListener = (_, response) => {
    const timer = setInterval(() => response.write("."), 5);
    response.once("close", () => clearInterval(timer));
  };

  test.each([
    ["missing headers", never],
    ["a slow body", drip],
  ])("has one time limit: %s", async (_, answer) => {
    await using receiver = await startReceiver(answer);
    await using web = open();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const late = { outcome: "failed", reason: "timeout", detail: "127.0.0.1 did not answer in time." };
    const sent = await web.send(url, { timeoutMs: 60 });
    expect(sent).toMatchObject(late);
    expect("ms" in sent && sent.ms).toBeLessThan(1_000);
    expect(await web.download(url, { timeoutMs: 60 })).toMatchObject(late);
  });

  test("has one time limit: a silent name server", async () => {
    await using web = open({ resolve: () => new Promise(() => undefined) });
    const answer = await web.send("http://silent.example.com/", { timeoutMs: 40 });
    expect(answer).toMatchObject({ reason: "timeout" });
    expect("ms" in answer && answer.ms).toBeLessThan(1_000);
    expect(attempts.addresses).toEqual([]);
  });

  test("is not sent if its time ended before the connection was made", async () => {
    await using receiver = await startReceiver();
    let answer = (_: string[]) => {};
    await using web = open({ resolve: () => new Promise((resolve) => (answer = resolve)) });
    const url = `http://slow.example.com:${receiver.port}/`;
    expect(await web.send(url, { timeoutMs: 40 })).toMatchObject({ reason: "timeout" });
    const next = web.send(url);
    await sleep(20);
    answer(["127.0.0.1"]);
    await sleep(20);
    answer(["127.0.0.1"]);
    expect(await next).toMatchObject({ outcome: "answered" });
    expect(receiver.requests).toBe(1);
  });

  test("reads no more of a body than its limit", async () => {
    let written = 0;
    const endless: RequestListener = (_, response) => {
      const chunk = Buffer.alloc(1_000, "x");
      const fill = () => {
        while (!response.destroyed && response.write(chunk)) {
          written += chunk.length;
        }
      };
      response.on("drain", fill);
      fill();
    };
    await using receiver = await startReceiver(endless);
    await using web = open();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const cut = await web.send(url, { maxBytes: 2_500 });
    expect(cut).toMatchObject({ outcome: "answered", isCut: true });
    expect(text(cut)).toHaveLength(2_500);
    expect(await web.send(url, { tooLarge: "fail" })).toMatchObject({ reason: "too_large" });
    expect(await web.download(url)).toMatchObject({ outcome: "failed", reason: "too_large" });
    expect(written).toBeLessThan(30_000_000);
  });

  test("with a response of exactly the limit is complete", async () => {
    await using receiver = await startReceiver((_, response) => response.end("x".repeat(1_000)));
    await using web = open();
    const url = `http://127.0.0.1:${receiver.port}/`;
    expect(await web.send(url, { tooLarge: "fail" })).toMatchObject({ outcome: "answered", isCut: false });
    expect(await web.download(url)).toMatchObject({ value: "x".repeat(1_000) });
    expect(await web.download(url, { maxBytes: 999 })).toMatchObject({ reason: "too_large" });
  });

  test("does not decompress the response", async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    });
    await using web = open();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const answer = await web.send(url, { maxBytes: 5_000 });
    expect(Buffer.from(answer.outcome === "answered" ? answer.body : [])).toEqual(bomb);
    expect(await web.download(url, { maxBytes: 5_000 })).toMatchObject({ reason: "malformed" });
  });

  test("ends when the caller aborts, and when the app stops", async () => {
    await using receiver = await startReceiver(never);
    await using web = open();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const controller = new AbortController();
    const aborted = web.send(url, { signal: controller.signal });
    await sleep(20);
    controller.abort();
    expect(await aborted).toMatchObject({ outcome: "failed", reason: "aborted" });
    expect(await web.send(url, { signal: AbortSignal.abort() })).toMatchObject({ reason: "aborted" });
    expect(receiver.requests).toBe(1);
    const running = web.send(url);
    await sleep(20);
    await web.web[Symbol.asyncDispose]();
    expect(await running).toMatchObject({ outcome: "failed", reason: "aborted" });
    expect(await web.send(url)).toMatchObject({ outcome: "failed", reason: "aborted" });
  });

  test("fails with its reason", async () => {
    await using breaking = await startReceiver((request) => request.socket.destroy());
    await using short = await startReceiver((_, response) => {
      response.writeHead(200, { "content-length": "10" }).write("x");
      setImmediate(() => response.socket?.destroy());
    });
    await using odd = await startReceiver(({ socket }) => socket.end("220 mail.example.com ESMTP\r\n"));
    const gone = await startReceiver();
    await gone[Symbol.asyncDispose]();
    await using web = open();
    const reasons = [breaking, short, odd, gone].map(async ({ port }) => {
      const answer = await web.send(`http://127.0.0.1:${port}/`);
      return answer.outcome === "failed" ? answer.reason : answer.outcome;
    });
    expect(await Promise.all(reasons)).toEqual(["reset", "reset", "malformed", "refused"]);
    expect(await web.send("http://nowhere.example.com/")).toMatchObject({ reason: "unresolved" });
  });

  test("that hangs delays no other receiver", async () => {
    await using hanging = await startReceiver(never);
    await using healthy = await startReceiver();
    await using web = open();
    const stop = new AbortController();
    setMaxListeners(100, stop.signal);
    const stuck = Array.from({ length: 100 }, () =>
      web.send(`http://127.0.0.1:${hanging.port}/`, { signal: stop.signal }),
    );
    const answers = Array.from({ length: 20 }, () => web.send(`http://127.0.0.1:${healthy.port}/`));
    const outcomes = (await Promise.all(answers)).map(({ outcome }) => outcome);
    expect(new Set(outcomes)).toEqual(new Set(["answered"]));
    expect(hanging.connections).toBeLessThanOrEqual(32);
    stop.abort();
    await Promise.all(stuck);
  });

  test("ends even if its consumer stops or fails", async () => {
    await using receiver = await startReceiver(drip);
    await using web = open();
    const request = { ...defaults, url: `http://127.0.0.1:${receiver.port}/` };
    const stopped = await web.web.download(request, async ({ status }) => status);
    expect(stopped).toMatchObject({ outcome: "answered", value: 200 });
    const failing = web.web.download(request, async () => {
      throw new Error("the disk is full");
    });
    await expect(failing).rejects.toThrow("the disk is full");
    // A consumer that ignores the error must not turn half a file into a success.
    const swallowed = await web.web.download({ ...request, maxBytes: 3 }, async ({ body }) => {
      const drain = async () => {
        for await (const _ of body) {
          // reads to the end
        }
      };
      await drain().catch(() => undefined);
      return "half";
    });
    expect(swallowed).toMatchObject({ outcome: "failed", reason: "too_large" });
  });
});
