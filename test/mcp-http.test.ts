/** The door of MCP over HTTP: who is let in, from where, and how much at once. */
import { once } from "node:events";
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { connectClient, serveMcpHttp, useMcpServer } from "./support/mcp-clients.ts";

const face = useMcpServer();

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
    const open = await serveMcpHttp(face.upstream, { allowedOrigins: ["https://app.example.com"] });
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
    const small = await serveMcpHttp(face.upstream, { maxBodyBytes: 100 });
    const response = await post(key, "x".repeat(101), small.url);
    expect(response.status).toBe(413);
    await small.close();
  });

  test("one key has only so many requests at once", async () => {
    const narrow = await serveMcpHttp(face.upstream, { maxConcurrentPerKey: 1 });
    face.upstream.respond = () => "hang";
    const call = { ...ping, method: "tools/call", params: { name: "list_contacts", arguments: {} } };
    const leave = new AbortController();
    const hanging = fetch(narrow.url, {
      method: "POST",
      headers: { ...headers, ...key },
      body: JSON.stringify(call),
      signal: leave.signal,
    });
    await expect.poll(() => face.upstream.requests).toHaveLength(1);
    const refused = await post(key, ping, narrow.url);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    leave.abort();
    await expect(hanging).rejects.toThrow();
    await expect.poll(async () => (await post(key, ping, narrow.url)).status).toBe(200);
    await narrow.close();
  });

  test("a look-up that fails is ours, not a wrong key", async () => {
    const broken = await serveMcpHttp(face.upstream, {
      authenticate: () => Promise.reject(new Error("no database")),
    });
    const response = await post(key, ping, broken.url);
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain("database");
    await broken.close();
  });

  test("an id that looks like the place of the list does not get it", async () => {
    const id = '"tools":[]';
    const response = await post(key, { ...ping, id });
    const text = await response.text();
    const answer = JSON.parse(text.replace(/^.*?data: /s, ""));
    expect(answer.id).toBe(id);
    expect(answer.result.tools.length).toBeGreaterThan(10);
  });

  test("only what is built is listed and called", async () => {
    const part = await serveMcpHttp(face.upstream, { availableTools: new Set(["get_contact"]) });
    const client = await connectClient(part.url);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["get_contact"]);
    await expect(client.callTool({ name: "list_contacts" })).rejects.toMatchObject({ code: -32602 });
    await client.close();
    await part.close();
  });
});
