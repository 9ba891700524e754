/** Calls that an MCP server rejects before they reach the service: recorded, and not without limit. */
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { createClient } from "../src/client/index.ts";
import { serveOverStdio } from "../src/mcp/stdio/index.ts";
import { activity } from "../tools/activity.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { maxRejectionsPerMinute, mcp } from "../tools/mcp.ts";
import { silentLog, useTestApp } from "./support/app.ts";

const app = useTestApp();

async function createKey(scopes: string[]) {
  const { data } = await app.call(apiKeys.create_api_key, { name: "Assistant", scopes });
  return { id: data.id, key: data.secret_key };
}

const listActs = async (by: string) =>
  (await app.call(activity.list_activity, { by, per_page: 100 })).data.toReversed();

const shownOf = (acts: Awaited<ReturnType<typeof listActs>>) =>
  acts.map(({ tool, operation, error_code }) => [tool, operation, error_code]);

async function connect(key: string, headers: Record<string, string> = {}) {
  const client = new Client({ name: "test", version: "0" });
  const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", app.address), { requestInit }));
  return {
    call: (name: string, sent: Record<string, unknown> = {}) =>
      client.callTool({ name, arguments: sent }).catch(() => undefined),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

test("a missing scope, a hidden tool, a wrong argument and an unknown tool are recorded once each", async () => {
  const { id, key } = await createKey(["inbox:read", "contacts:read"]);
  await using client = await connect(key, { "x-tidings-tools-deny": "list_teams" });
  await client.call("send_message", { to: "+14155550123", body: "a private text" });
  await client.call("list_teams");
  await client.call("get_contact", { id: 7, person: "Ada" });
  await client.call("transfer_everything");
  await client.call("Call +1 415 555 0123");
  const acts = await listActs(id);
  expect(shownOf(acts)).toEqual([
    ["send_message", "send_message", "insufficient_scope"],
    ["list_teams", "list_teams", "tool_hidden"],
    ["get_contact", "get_contact", expect.stringMatching(/^(?:invalid_request|unknown_argument)$/)],
    ["transfer_everything", "call_mcp_tool", "tool_not_found"],
    [null, "call_mcp_tool", "tool_not_found"],
  ]);
  expect(acts.every(({ outcome }) => outcome === "refused")).toBe(true);
  expect(JSON.stringify(acts)).not.toMatch(/Ada|private|415 555/);
});

test("calls through the gateways that are rejected there are recorded", async () => {
  const { id, key } = await createKey(["inbox:read", "inbox:write"]);
  await using client = await connect(key);
  await client.call("run_write_tool", { name: "create_webhook", arguments: {} });
  await client.call("run_read_tool", { name: "create_team", arguments: { name: "Ours" } });
  await client.call("run_write_tool", { name: "remove_everything" });
  await client.call("run_write_tool", { nonsense: true });
  expect(shownOf(await listActs(id))).toEqual([
    ["create_webhook", "create_webhook", "insufficient_scope"],
    ["create_team", "create_team", "invalid_request"],
    ["remove_everything", "call_mcp_tool", "tool_not_found"],
    ["run_write_tool", "call_mcp_tool", "invalid_request"],
  ]);
});

test("a client in a loop fills no record: a minute has so many, and the reads count all", async () => {
  const { id, key } = await createKey(["inbox:read"]);
  const other = await createKey(["inbox:read"]);
  await using client = await connect(key);
  for (let count = 0; count < maxRejectionsPerMinute + 15; count += 1) {
    await client.call("send_message", { to: "+14155550123", body: "Hi" });
  }
  expect(await listActs(id)).toHaveLength(maxRejectionsPerMinute);
  await using another = await connect(other.key);
  await another.call("send_message", { to: "+14155550123", body: "Hi" });
  expect(await listActs(other.id)).toHaveLength(1);
  const { data: counts } = await app.call(activity.list_read_counts, { by: id });
  const reports = counts.filter(({ operation }) => operation === "report_rejected_call");
  expect(reports.reduce((sum, { count }) => sum + count, 0)).toBe(maxRejectionsPerMinute + 15);
  await app.advanceTime(60_000);
  await client.call("send_message", { to: "+14155550123", body: "Hi" });
  expect(await listActs(id)).toHaveLength(maxRejectionsPerMinute + 1);
});

test("calls that a server over stdio rejects are recorded by the service", async () => {
  const { id, key } = await createKey(["inbox:read"]);
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const client = createClient({ baseUrl: app.address, key });
  const discoverAccess = async () => ({ scopes: new Set(["inbox:read"] as const) });
  const connection = serveOverStdio({
    client,
    version: "0",
    log: silentLog,
    knownAccess: await discoverAccess(),
    discoverAccess,
    stdin,
    stdout,
  });
  const answers = createInterface(stdout)[Symbol.asyncIterator]();
  const request = async (method: string, params: object) => {
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`);
    return (await answers.next()).value;
  };
  const clientInfo = { name: "test", version: "0" };
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  const sent = { to: "+14155550123", body: "Hi" };
  expect(await request("tools/call", { name: "send_message", arguments: sent })).toContain(
    "insufficient_scope",
  );
  expect(shownOf(await listActs(id))).toEqual([["send_message", "send_message", "insufficient_scope"]]);
  stdin.end();
  await connection.close();
  await client.close();
});

test("a report names the caller that makes it, and errors of the service are none", async () => {
  const { id, key } = await createKey(["inbox:read"]);
  const report = { tool: "create_flow", code: "internal" };
  expect((await app.call(mcp.report_rejected_call, report, { key })).data).toEqual({ recorded: true });
  expect(shownOf(await listActs(id))).toEqual([["create_flow", "create_flow", "invalid_request"]]);
});
