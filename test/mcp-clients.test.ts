/** MCP clients of every version, revision and transport: tool lists, calls and failures. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tools } from "../src/mcp/tool-list/definitions.ts";
import { permits } from "../tools/contract/index.ts";
import {
  type ConnectedClient,
  clientKinds,
  connectClient,
  scriptedContact,
  useMcpServer,
} from "./support/mcp-clients.ts";
import type { ScriptedResponse } from "./support/scripted-service.ts";

const server = useMcpServer();
const names = (list: { tools: { name: string }[] }) => list.tools.map(({ name }) => name);
const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? "";
const failing = (status: number, error: object, headers = {}): ScriptedResponse => ({
  status,
  headers,
  body: { error },
});

describe.each(clientKinds)("a client of %s", (_, open) => {
  let all: ConnectedClient;
  let reader: ConnectedClient;
  beforeAll(async () => {
    [all, reader] = await Promise.all([open(server, "sk_live_all"), open(server, "sk_live_reader")]);
  });
  afterAll(async () => {
    await Promise.all([all.close(), reader.close()]);
  });

  test("lists the gateways that the key needs, and the core tools that it may call, in the catalogue's order", async () => {
    const core = tools.filter(({ tier }) => tier !== "extended");
    const gateways = ["search_tools", "run_read_tool"];
    const everything = [...gateways, "run_write_tool", ...core.map(({ name }) => name)];
    expect(names(await all.listTools())).toEqual(everything);
    const readable = core.filter(({ scope }) => permits(new Set(["contacts:read"]), scope));
    // Until the scopes of its key are known, a slow process lists every tool.
    await expect
      .poll(async () => names(await reader.listTools()))
      .toEqual([...gateways, ...readable.map(({ name }) => name)]);
    expect(all.getInstructions()).toContain("24 hours");
  });

  test("gets the result twice: as an object and as compact JSON", async () => {
    await all.listTools();
    const result = await all.callTool({ name: "get_contact", arguments: { id: "con_1" } });
    expect(result).toMatchObject({ structuredContent: { data: scriptedContact } });
    expect(textOf(result)).toBe(JSON.stringify({ data: scriptedContact }));
  });

  test("sends the arguments where the route expects them, with the caller's key and the tool's name", async () => {
    await all.callTool({ name: "send_message", arguments: { to: "+14155550123", body: "hi" } });
    const [sent] = server.upstream.requests.filter(({ path }) => path === "/v1/messages");
    expect(sent?.body).toEqual({ to: "+14155550123", type: "text", text: { body: "hi" } });
    expect(sent?.headers).toMatchObject({
      "x-api-key": "sk_live_all",
      "idempotency-key": expect.stringMatching(/^[\w-]{36}$/),
      "x-tidings-tool": "send_message",
    });
  });

  test("passes on an idempotency key and the trace", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const _meta = { "io.tidings/idempotency-key": "order-7", traceparent };
    const call = { name: "send_message", arguments: { to: "+14155550123", body: "hi" }, _meta };
    const result = await all.callTool(call);
    expect(server.upstream.requests.at(-1)?.headers).toMatchObject({
      "idempotency-key": "order-7",
      traceparent,
    });
    expect(result).toMatchObject({ _meta: { "io.tidings/idempotency-key": "order-7" } });
  });

  test("is reported to the service, and not made, if its key lacks the scope", async () => {
    await reader.listTools();
    server.upstream.requests.length = 0;
    const result = await reader.callTool({
      name: "send_message",
      arguments: { to: "+14155550123", body: "hi" },
    });
    expect(result).toMatchObject({ isError: true });
    expect(result).not.toHaveProperty("structuredContent");
    expect(textOf(result)).toContain("send_message failed: insufficient_scope (403)");
    expect(textOf(result)).toContain("inbox:write");
    expect(server.upstream.requests).toMatchObject([
      { path: "/v1/mcp/rejected-calls", body: { tool: "send_message", code: "insufficient_scope" } },
    ]);
  });

  test("is given every sufficient scope", async () => {
    await reader.listTools();
    const call = { name: "upload_file", arguments: { file_name: "a.txt", content_base64: "aGk=" } };
    const text = textOf(await reader.callTool(call));
    expect(text).toContain("one of inbox:write, contacts:write, templates:create, broadcasts:create.");
    expect(text).not.toContain("required_scopes");
  });

  test("gets a protocol error for an unknown tool", async () => {
    await expect(all.callTool({ name: "launch_rocket" })).rejects.toMatchObject({ code: -32602 });
    await expect(all.callTool({ name: "inbox_report" })).rejects.toThrow(
      "Unknown tool: inbox_report. Did you mean get_inbox_report? tools/list has the names.",
    );
  });

  test("gets the service's error and what to do next", async () => {
    const error = {
      type: "business_rule",
      code: "outside_service_window",
      message: "The 24-hour service window is closed.",
      fix: "Send an approved template.",
      window_expired_at: "2026-01-01T00:00:00Z",
    };
    server.upstream.respond = () => failing(422, error, { "x-request-id": "req_1" });
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

describe("a failed call", () => {
  let client: ConnectedClient;
  beforeAll(async () => {
    client = await connectClient(server.url);
  });
  afterAll(() => client.close());

  const list = { name: "list_contacts", arguments: {} };
  const send = { name: "send_message", arguments: { to: "+14155550123", body: "hi" } };

  test("names an unknown argument, with the known ones", async () => {
    const text = textOf(await client.callTool({ ...send, arguments: { ...send.arguments, colour: "red" } }));
    expect(text).toBe(
      "send_message failed: unknown_argument (400). Unknown argument: colour. Remove it. Next: Known arguments: to, body, inbox_id, reply_to, wait_seconds.",
    );
  });

  test("names every invalid field", async () => {
    const text = textOf(await client.callTool({ name: "send_message" }));
    expect(text).toContain("to: This field is required.");
    expect(text).toContain("Field body: This field is required.");
    expect(server.upstream.requests).toMatchObject([
      { path: "/v1/mcp/rejected-calls", body: { tool: "send_message", code: "invalid_request" } },
    ]);
  });

  test.each([
    [401, "Check the API key"],
    [403, "Use a key with this permission"],
    [404, "Find the id"],
    [409, "Check the current state"],
    [500, "Try again in a moment"],
  ])("with a bare %i says what to do next", async (status, next) => {
    server.upstream.respond = () => ({ status, body: "<html>10.0.0.5</html>" });
    const text = textOf(await client.callTool(list));
    expect(text).toContain(`list_contacts failed: http_${status} (${status}).`);
    expect(text).toContain(`Next: ${next}`);
    expect(text).not.toContain("10.0.0.5");
  });

  test("with 429 names the seconds and is not retried", async () => {
    server.upstream.respond = () => ({ status: 429, headers: { "retry-after": "7" } });
    expect(textOf(await client.callTool(list))).toContain("Next: Wait 7 s and call again.");
    expect(server.upstream.requests).toHaveLength(1);
  });

  test("says that a write may have run", async () => {
    server.upstream.respond = () => "break";
    const text = textOf(await client.callTool(send));
    expect(text).toContain("send_message failed: unreachable.");
    expect(text).toContain("It may have been executed");
  });

  test("an id of dots does not reach another operation", async () => {
    const text = textOf(await client.callTool({ name: "delete_contact", arguments: { id: ".." } }));
    expect(text).toContain('id: ".." is not an id');
    expect(server.upstream.requests).toEqual([]);
  });
});
