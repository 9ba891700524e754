/**
 * A tool is found, checked and its arguments are read in the same way over /mcp, over REST
 * and by execute_tool.
 */
import { beforeAll, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { createToolReader } from "../tools/tool-call.ts";
import { useTestApp } from "./support/app.ts";

const app = useTestApp({ env: { TIDINGS_TOOLS_DENY: "delete_contact" } });
let key: string;
beforeAll(async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "narrow", scopes: ["contacts:read"] });
  key = data.secret_key;
});

interface ToolCall {
  readonly name: string;
  readonly arguments: object;
}

/** The text of a failed call. */
async function callOverMcp(params: ToolCall, mode: string): Promise<string> {
  const answer = await app.fetch("/mcp", {
    method: "POST",
    key,
    json: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    headers: { accept: "application/json, text/event-stream", "x-tidings-tool-mode": mode },
  });
  const { result } = JSON.parse((await answer.text()).replace(/^[^{]*data: /s, ""));
  return result.content[0].text;
}

async function callOverRest(json: ToolCall) {
  const answer = await app.fetch("/v1/mcp/tools/call", { method: "POST", key, json });
  // The error envelope.
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  return { status: answer.status, code: error.code, message: error.message };
}

const bad = { per_page: "many", fly: true };

test.each<[string, ToolCall, string]>([
  ["an unknown argument", { name: "get_contact", arguments: { id: "con_1", fly: true } }, "unknown_argument"],
  ["an invalid argument", { name: "list_contacts", arguments: { per_page: "many" } }, "invalid_request"],
  ["a missing scope before bad arguments", { name: "list_messages", arguments: bad }, "insufficient_scope"],
  ["the setting before a missing scope", { name: "delete_contact", arguments: bad }, "tool_hidden"],
])("%s", async (_, call, code) => {
  const failure = await callOverRest(call);
  expect(failure.code).toBe(code);
  const start = `${call.name} failed: ${code} (${failure.status}). ${failure.message}`;
  const through = (gateway: string) => ({ name: gateway, arguments: call });
  const texts = [
    await callOverMcp(call, "core"),
    await callOverMcp(through("run_read_tool"), "core"),
    await callOverMcp(through("run_write_tool"), "lean"),
    await callOverMcp(through("execute_tool"), "search"),
  ];
  expect(texts).toEqual(texts.map(() => texts[0]));
  expect(texts[0]).toContain(start);
});

test("a name of an object's prototype is not a tool", () => {
  const read = createToolReader(contacts);
  const request = { arguments: {}, scopes: undefined, hiddenBy: () => undefined };
  expect(() => read({ ...request, name: "constructor" })).toThrow("There is no tool named constructor.");
});
