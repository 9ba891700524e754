/**
 * Limits of MCP requests: how many values a message has, and how long the texts of the
 * service's own tools are.
 */
import { describe, expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import { members } from "./support/places.ts";

const app = useTestApp();

async function post(message: unknown, headers: Record<string, string> = {}) {
  const answer = await app.fetch("/mcp", {
    method: "POST",
    json: message,
    headers: { accept: "application/json, text/event-stream", ...headers },
  });
  return { status: answer.status, text: await answer.text() };
}

function request(method: string, params: object, more: object = {}) {
  return { jsonrpc: "2.0", id: 1, method, params, ...more };
}

function initialize(client: object, capabilities: object = {}) {
  const clientInfo = { name: "test", version: "1", ...client };
  return request("initialize", { protocolVersion: "2025-06-18", capabilities, clientInfo });
}

const tooMany = "more than 250 values, without those inside arguments";

describe("a message with too many values is rejected before the SDK describes each", () => {
  test.each([
    ["in a list of a client's icons", initialize({ icons: Array(100_000).fill(1) })],
    ["in capabilities", initialize({}, { experimental: members(50_000) })],
    ["in params", request("tools/list", members(50_000))],
    ["in _meta", request("tools/list", { _meta: { inner: [members(50_000)] } })],
    ["beside params", request("tools/list", {}, members(50_000))],
    ["as a batch", Array(251).fill(1)],
    ["as arguments", request("tools/call", { name: "list_contacts", arguments: members(50_000) })],
    ["as a list of arguments", request("tools/call", { name: "x", arguments: Array(100_000).fill(1) })],
  ])("%s", async (_, message) => {
    const { status, text } = await post(message);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({
      error: { code: -32_600, message: expect.stringContaining(tooMany) },
    });
    expect(text.length).toBeLessThan(500);
  });

  test("not if the values are inside the arguments of a tool, which its schema limits", async () => {
    const input = { phone_number: "+14155550190", metadata: members(1_000) };
    const { text } = await post(request("tools/call", { name: "create_contact", arguments: input }));
    expect(text).toContain('"k999":1');
  });

  test("and as many as are allowed are described in less than 64 kB", async () => {
    const { text } = await post(initialize({ icons: Array(230).fill(1) }));
    expect(text).not.toContain(tooMany);
    expect(text.length).toBeLessThan(64_000);
  });
});

describe("search mode", () => {
  const search = { "x-tidings-tool-mode": "search" };
  const words = Array.from({ length: 100_000 }, (_, index) => `w${index}`).join(" ");

  test("rejects a query that is not a sentence", async () => {
    const call = request("tools/call", { name: "search_tools", arguments: { query: words } });
    expect((await post(call, search)).text).toContain("a string of at most 1000 characters");
  });

  test("rejects a limit that can't be converted to a number", async () => {
    const input = { query: "send", limit: { valueOf: 1, toString: 1 } };
    const { text } = await post(request("tools/call", { name: "search_tools", arguments: input }), search);
    expect(text).toContain("limit a whole number from 1 to 20");
  });

  test("names few of many unknown arguments", async () => {
    const call = request("tools/call", { name: "search_tools", arguments: members(200) });
    const { text } = await post(call, search);
    expect(text).toContain("Unknown argument: k0, k1,");
    expect(text.length).toBeLessThan(1_500);
  });
});

test("an argument of a prompt that is no text is rejected in one sentence", async () => {
  const prompt = { name: "answer_customer", arguments: { conversation_id: 7 } };
  const { status, text } = await post(request("prompts/get", prompt));
  expect(status).toBe(400);
  expect(JSON.parse(text).error).toEqual({
    code: -32_602,
    message: "Invalid params: the arguments of a prompt must be strings",
  });
});

test("an address of a resource that does not exist is quoted in part", async () => {
  const { text } = await post(request("resources/read", { uri: `tidings://${"x".repeat(900_000)}` }));
  expect(text).toContain("Resource not found: tidings://xxx");
  expect(text.length).toBeLessThan(1_000);
});
