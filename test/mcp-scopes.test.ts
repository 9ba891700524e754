/** What a key may do is learned from its service: by asking, from its tools, or not at all. */
import { afterEach, expect, test, vi } from "vitest";
import { createClient } from "../src/client/index.ts";
import { discoverAccess } from "../src/mcp/tool-list/access.ts";
import { type RecordedRequest, type ScriptedResponse, startUpstream } from "./support/scripted-service.ts";

const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
afterEach(() => log.warn.mockClear());

async function learn(answers: Readonly<Record<string, ScriptedResponse>>) {
  const answer = ({ method, path }: RecordedRequest) =>
    answers[`${method} ${path}`] ?? { status: 404, body: {} };
  await using upstream = await startUpstream(answer);
  const client = createClient({ baseUrl: upstream.url, key: "sk_live_x", retries: 0 });
  const access = await discoverAccess(client, log);
  await client.close();
  return (
    access && {
      scopes: [...access.scopes].sort(),
      built: access.availableTools && [...access.availableTools],
    }
  );
}

const tools = (...names: string[]) => ({
  body: { data: names.map((name) => ({ name, description: "", input_schema: {} })) },
});

const whoami = { body: { data: { scopes: ["inbox:read", "contacts:read"] } } };

test("our own service says them", async () => {
  expect(await learn({ "GET /v1/whoami": whoami })).toEqual({ scopes: ["contacts:read", "inbox:read"] });
});

test("and what it has, of what is known here", async () => {
  const listed = tools("list_contacts", "send_message", "a_tool_of_tomorrow");
  const { built } = (await learn({ "GET /v1/whoami": whoami, "GET /v1/mcp/tools": listed })) ?? {};
  expect(built?.sort()).toEqual(["list_contacts", "send_message"]);
});

test.each([
  ["nothing that is known", tools("a_tool_of_tomorrow")],
  ["a failure", { status: 500, body: {} }],
  ["something else", { body: { data: {} } }],
  ["never", "hang"],
] as const)("a list of tools that answers %s narrows nothing", async (_, listed) => {
  const access = await learn({ "GET /v1/whoami": whoami, "GET /v1/mcp/tools": listed });
  expect(access).toEqual({ scopes: ["contacts:read", "inbox:read"], built: undefined });
});

test("another service's list of tools proves them", async () => {
  const listed = tools("send_message", "list_contacts", "a_tool_of_theirs");
  expect(await learn({ "GET /v1/mcp/tools": listed })).toEqual({ scopes: ["contacts:read", "inbox:write"] });
  expect(log.warn).not.toHaveBeenCalled();
});

test.each([
  ["knows neither", {}],
  ["lists nothing that is known", { "GET /v1/mcp/tools": tools("theirs") }],
  ["refuses the key", { "GET /v1/whoami": { status: 401, body: {} } }],
  [
    "answers something else",
    { "GET /v1/whoami": { body: "<html>" }, "GET /v1/mcp/tools": { body: "<html>" } },
  ],
])("a service that %s leaves them unknown, with one warning", async (_, answers) => {
  expect(await learn(answers as Record<string, ScriptedResponse>)).toBeUndefined();
  expect(log.warn).toHaveBeenCalledTimes(1);
});
