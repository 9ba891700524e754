/** MCP over HTTP: credentials, origins and hosts, body size and concurrency limits. */
import { once } from "node:events";
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { tools } from "../src/mcp/tool-list/definitions.ts";
import { allScopes } from "../tools/contract/index.ts";
import { connectClient, serveMcpHttp, useMcpServer } from "./support/mcp-clients.ts";
import { meanwhile } from "./support/meanwhile.ts";

const server = useMcpServer();

describe("MCP over HTTP", () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = (extraHeaders: Record<string, string>, body: unknown = ping, url = server.url) =>
    fetch(url, {
      method: "POST",
      headers: { ...headers, ...extraHeaders },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const key = { "x-api-key": "sk_live_all" };

  test.each([
    ["x-api-key", "sk_live_all"],
    ["authorization", "Bearer sk_live_all"],
  ])("a credential in %s is accepted", async (name, value) => {
    expect((await post({ [name]: value })).status).toBe(200);
  });

  test.each([
    [{}, "credential_missing"],
    [{ authorization: "Basic abc" }, "credential_malformed"],
    [{ authorization: "sk_live_all" }, "credential_malformed"],
    [{ "x-api-key": "sk_live_revoked" }, "credential_invalid"],
  ])("%j is answered 401 with a challenge", async (credential, code) => {
    const response = await post(credential as Record<string, string>);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain("Bearer");
    expect(await response.json()).toMatchObject({ error: { type: "authentication", code } });
  });

  test.each(["https://evil.example", "null", "http://127.0.0.1.evil.example"])(
    "a page of origin %s is rejected",
    async (origin) => {
      const response = await post({ ...key, origin });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { code: "host_not_allowed" } });
    },
  );

  test("pages of this machine and of allowed origins may call", async () => {
    const open = await serveMcpHttp(server.upstream, { allowedOrigins: ["https://app.example.com"] });
    const preflight = {
      method: "OPTIONS",
      headers: { origin: "https://app.example.com", "access-control-request-headers": "x-api-key" },
    };
    const allowed = await fetch(open.url, preflight);
    expect([allowed.status, allowed.headers.get("access-control-allow-headers")]).toEqual([204, "x-api-key"]);
    for (const origin of ["https://app.example.com", "http://localhost:3000"]) {
      const response = await post({ ...key, origin }, ping, open.url);
      expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    }
    await open.close();
  });

  test("an unknown host is rejected", async () => {
    const { port } = new URL(server.url);
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

  test("a body that is not JSON is a JSON-RPC parse error", async () => {
    const response = await post(key, "{");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32700 }, id: null });
  });

  test("a body over the limit is rejected", async () => {
    const small = await serveMcpHttp(server.upstream, { maxBodyBytes: 100 });
    const response = await post(key, "x".repeat(101), small.url);
    expect(response.status).toBe(413);
    await small.close();
  });

  test("the number of concurrent requests per key is limited", async () => {
    const narrow = await serveMcpHttp(server.upstream, { maxConcurrentPerKey: 1 });
    server.upstream.respond = () => "hang";
    const call = { ...ping, method: "tools/call", params: { name: "list_contacts", arguments: {} } };
    const controller = new AbortController();
    const hanging = fetch(narrow.url, {
      method: "POST",
      headers: { ...headers, ...key },
      body: JSON.stringify(call),
      signal: controller.signal,
    });
    await meanwhile(expect(hanging).rejects.toThrow(), async () => {
      await expect.poll(() => server.upstream.requests).toHaveLength(1);
      const rejected = await post(key, ping, narrow.url);
      expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "1"]);
      controller.abort();
    });
    await expect.poll(async () => (await post(key, ping, narrow.url)).status).toBe(200);
    await narrow.close();
  });

  test("the spellings of a credential share its limit of concurrent requests", async () => {
    const scopes = new Set(allScopes);
    const identity = { credentialId: "usr_1", scopes, count: () => undefined };
    const admit = () => ({ maxMessages: 100, identify: async () => identity });
    const narrow = await serveMcpHttp(server.upstream, { maxConcurrentPerKey: 1 }, admit);
    server.upstream.respond = () => "hang";
    const call = { ...ping, method: "tools/call", params: { name: "list_contacts", arguments: {} } };
    const hanging = post({ authorization: "Bearer one" }, call, narrow.url);
    await meanwhile(expect(hanging).rejects.toThrow(), async () => {
      await expect.poll(() => server.upstream.requests).toHaveLength(1);
      expect((await post({ authorization: "Bearer other" }, ping, narrow.url)).status).toBe(429);
      await narrow.close();
    });
  });

  test("a failed key lookup is a 503, not an invalid key", async () => {
    const identify = () => Promise.reject(new Error("no database"));
    const broken = await serveMcpHttp(server.upstream, {}, () => ({ maxMessages: 100, identify }));
    const response = await post(key, ping, broken.url);
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain("database");
    await broken.close();
  });

  test("a request id that contains the list's placeholder is returned unchanged", async () => {
    const id = '"tools":[]';
    const response = await post(key, { ...ping, id });
    const text = await response.text();
    const answer = JSON.parse(text.replace(/^.*?data: /s, ""));
    expect(answer.id).toBe(id);
    expect(answer.result.tools).toHaveLength(3 + tools.filter(({ tier }) => tier !== "extended").length);
  });

  test("only available tools are listed and callable", async () => {
    const partial = await serveMcpHttp(server.upstream, { availableTools: new Set(["get_contact"]) });
    const client = await connectClient(partial.url);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["get_contact"]);
    await expect(client.callTool({ name: "list_contacts" })).rejects.toMatchObject({ code: -32602 });
    await client.close();
    await partial.close();
  });
});
