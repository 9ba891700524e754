/** Discovery of a key's scopes: from whoami, from the service's list of tools, or not at all. */
import { afterEach, expect, test, vi } from "vitest";
import { createClient } from "../src/client/index.ts";
import { discoverAccess } from "../src/mcp/tool-list/access.ts";
import { type RecordedRequest, type ScriptedResponse, startUpstream } from "./support/scripted-service.ts";

const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
afterEach(() => log.warn.mockClear());

async function discover(answers: Readonly<Record<string, ScriptedResponse>>) {
  const answer = ({ method, path }: RecordedRequest) =>
    answers[`${method} ${path}`] ?? { status: 404, body: {} };
  await using upstream = await startUpstream(answer);
  const client = createClient({ baseUrl: upstream.url, key: "sk_live_x", retries: 0 });
  const access = await discoverAccess(client, log);
  await client.close();
  return (
    access && {
      scopes: [...access.scopes].sort(),
      availableTools: access.availableTools && [...access.availableTools],
    }
  );
}

const tools = (...names: string[]) => ({
  body: { data: names.map((name) => ({ name, description: "", input_schema: {} })) },
});

const whoami = { body: { data: { scopes: ["inbox:read", "contacts:read"] } } };

test("the scopes come from whoami", async () => {
  expect(await discover({ "GET /v1/whoami": whoami })).toEqual({ scopes: ["contacts:read", "inbox:read"] });
});

test("the available tools are those that both sides know", async () => {
  const listed = tools("list_contacts", "send_message", "a_future_tool");
  const { availableTools } =
    (await discover({ "GET /v1/whoami": whoami, "GET /v1/mcp/tools": listed })) ?? {};
  expect(availableTools?.sort()).toEqual(["list_contacts", "send_message"]);
});

test.each([
  ["no known tool", tools("a_future_tool")],
  ["a failure", { status: 500, body: {} }],
  ["another shape", { body: { data: {} } }],
  ["never", "hang"],
] as const)("a list of tools that answers %s restricts no tools", async (_, listed) => {
  const access = await discover({ "GET /v1/whoami": whoami, "GET /v1/mcp/tools": listed });
  expect(access).toEqual({ scopes: ["contacts:read", "inbox:read"], availableTools: undefined });
});

test("without whoami the scopes follow from the list of tools", async () => {
  const listed = tools("send_message", "list_contacts", "an_unknown_tool");
  expect(await discover({ "GET /v1/mcp/tools": listed })).toEqual({
    scopes: ["contacts:read", "inbox:write"],
  });
  expect(log.warn).not.toHaveBeenCalled();
});

test.each([
  ["has neither route", {}],
  ["lists no known tool", { "GET /v1/mcp/tools": tools("theirs") }],
  ["rejects the key", { "GET /v1/whoami": { status: 401, body: {} } }],
  [
    "answers in another shape",
    { "GET /v1/whoami": { body: "<html>" }, "GET /v1/mcp/tools": { body: "<html>" } },
  ],
])("if a service %s, the scopes are unknown, with one warning", async (_, answers) => {
  expect(await discover(answers as Record<string, ScriptedResponse>)).toBeUndefined();
  expect(log.warn).toHaveBeenCalledTimes(1);
});
