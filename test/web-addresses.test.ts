/** The guarded web: no connection to a forbidden address, and which URLs are accepted. */
import { describe, expect, test } from "vitest";
import { ForbiddenAddressError, openAgent } from "../src/adapters/web/connect.ts";
import { createWebRules } from "../src/adapters/web/rules.ts";
import { forbiddenAddresses, forbiddenHosts, toUrlHost } from "./support/forbidden-addresses.ts";
import { startReceiver } from "./support/receiver.ts";
import { anySchemeAndPort, development, openWeb, production, useConnectionAttempts } from "./support/web.ts";

const attempts = useConnectionAttempts();

describe("no connection is made to an address that is not public", () => {
  test.each(Object.entries(forbiddenAddresses))(
    "%s, as a literal and behind a name",
    async (_, addresses) => {
      for (const address of addresses) {
        await using web = openWeb({ rules: anySchemeAndPort, resolve: async () => [address] });
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
    await using web = openWeb({ rules: anySchemeAndPort });
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
    await using web = openWeb({ resolve: async () => answers.shift() ?? [] });
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
    await using web = openWeb({ resolve: async () => ["10.0.0.1", "127.0.0.1", "::1", "64:ff9b::7f00:1"] });
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
        await using web = openWeb();
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
      await using web = openWeb({ rules: anySchemeAndPort });
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
    await using web = openWeb({ rules: production });
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
    await using web = openWeb({ rules: production });
    expect(web.check(url)).toBeUndefined();
  });

  test("of an allowed network is accepted by https only", async () => {
    const rules = createWebRules({
      allow: ["10.1.0.0/16", "fd00:1::/32", "192.168.7.7"],
      isLocalAllowed: false,
    });
    await using web = openWeb({ rules });
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
    await using web = openWeb({ rules: development });
    for (const host of ["127.0.0.1", "localhost", "127.1", "hooks.localhost", "[::ffff:127.0.0.1]"]) {
      expect(await web.send(`http://${host}:${receiver.port}/`), host).toMatchObject({ status: 200 });
    }
    for (const host of ["10.0.0.1", "0.0.0.0", "169.254.169.254", "[fd00::1]", "192.168.0.1"]) {
      expect(await web.send(`http://${host}:${receiver.port}/`), host).toMatchObject({ reason: "address" });
    }
  });

  test("with a header that a customer may not set is rejected", async () => {
    await using receiver = await startReceiver();
    await using web = openWeb();
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
