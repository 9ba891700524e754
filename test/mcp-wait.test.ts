/** Waiting calls over MCP: progress notifications, cancellation and time limits. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { timeoutFor, waitMsOf } from "../src/client/index.ts";
import { tools } from "../src/mcp/tool-list/definitions.ts";
import { createToolFilter, defaultToolFilterSettings } from "../src/mcp/tool-list/filter.ts";
import { contacts } from "../tools/contacts.ts";
import { allScopes } from "../tools/contract/index.ts";
import { messages } from "../tools/messages/index.ts";
import { type ConnectedClient, clientKinds, connectClient, serveMcpHttp } from "./support/mcp-clients.ts";
import { meanwhile } from "./support/meanwhile.ts";
import type { Upstream } from "./support/scripted-service.ts";
import { waitUntil } from "./support/served-process.ts";

const answer = { data: [], meta: { cursor: "c", is_timed_out: true } };
/** The pending responses of the service, by the cursor of their wait or the id of their broadcast. */
const waiting = new Map<string, ServerResponse>();
/** How long each call waits for a broadcast, in seconds. */
const slices: string[] = [];
let upstream: Upstream;
let url: string;
let searchUrl: string;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  const service = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://service");
    if (pathname === "/v1/messages/wait") {
      waiting.set(searchParams.get("after") ?? "", response);
      return;
    }
    const [, broadcast] = /^\/v1\/broadcasts\/(\w+)\/wait$/.exec(pathname) ?? [];
    if (broadcast !== undefined) {
      slices.push(searchParams.get("timeout_seconds") ?? "");
      waiting.set(broadcast, response);
      return;
    }
    response.end(JSON.stringify({ data: { scopes: allScopes } }));
  }).listen(0, "127.0.0.1");
  await once(service, "listening");
  const { port } = service.address() as AddressInfo; // it listens on a TCP port
  const requests: Upstream["requests"] = [];
  upstream = {
    url: `http://127.0.0.1:${port}`,
    requests,
    respond: () => "hang",
    [Symbol.asyncDispose]: async () => void service.closeAllConnections(),
  };
  const toolFilter = createToolFilter(tools, { ...defaultToolFilterSettings, mode: "search" });
  const endpoints = [await serveMcpHttp(upstream), await serveMcpHttp(upstream, { toolFilter })];
  open.push(...endpoints, { close: async () => void service.closeAllConnections() });
  [url = "", searchUrl = ""] = endpoints.map((endpoint) => endpoint.url);
});
afterAll(async () => {
  await Promise.all(open.map((closable) => closable.close()));
});

interface Options {
  readonly onprogress?: (progress: Progress) => unknown;
  readonly signal?: AbortSignal;
}
interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}
type Call = (call: { name: string; arguments: object }, options: Options) => Promise<object>;

/** The two generations of the client take the options in different positions. */
function callOf(client: ConnectedClient, kind: string): Call {
  const callTool = client.callTool.bind(client) as (...args: unknown[]) => Promise<object>;
  return (call, options) =>
    kind.startsWith("v1") ? callTool(call, undefined, options) : callTool(call, options);
}

const waitCall = (after: string) => ({
  name: "wait_for_message",
  arguments: { after, timeout_seconds: 20 },
});

afterEach(() => void vi.useRealTimers());

/** The server runs in this process, where a test can advance its timers. */
const overHttp = clientKinds.filter(([kind]) => kind.endsWith("HTTP"));

test.each(overHttp)("progress is sent every 5 s: %s", async (kind, connect) => {
  const client = await connect({ upstream, url }, "sk_live_all");
  await expectProgress(callOf(client, kind), waitCall(`progress ${kind}`), `progress ${kind}`);
  await client.close();
});

test("progress is sent through a gateway", async () => {
  const client = await connectClient(searchUrl);
  const { arguments: args, name } = waitCall("progress search");
  const call = { name: "run_read_tool", arguments: { name, arguments: args } };
  await expectProgress(callOf(client, "v2"), call, "progress search");
  await client.close();
});

async function expectProgress(
  call: Call,
  params: { name: string; arguments: object },
  after: string,
): Promise<void> {
  const received: Progress[] = [];
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const calling = call(params, { onprogress: (progress) => received.push(progress) });
  const result = await meanwhile(calling, async () => {
    await waitUntil(() => waiting.has(after));
    for (const [index, progress] of [5, 10].entries()) {
      vi.advanceTimersByTime(5_000);
      await waitUntil(() => received.length > index);
      expect(received[index]).toMatchObject({
        progress,
        total: 20,
        message: `Waiting: ${20 - progress} s left`,
      });
    }
    waiting.get(after)?.end(JSON.stringify(answer));
  });
  expect(result).toMatchObject({ structuredContent: answer });
  expect(received).toHaveLength(2);
}

const counts = (sent: number, failed: number, total = 20_000) => ({
  total,
  pending: total - sent - failed,
  sent,
  delivered: 0,
  read: 0,
  failed,
  execution_status: "processing",
  is_timed_out: true,
});

/**
 * Answers the slice that waits, after its time. A poll of `expect`, unlike `waitUntil`,
 * would advance the timers.
 */
async function endSlice(id: string, data: object, ms = 5_000): Promise<void> {
  await waitUntil(() => waiting.has(id));
  if (ms > 0) {
    vi.advanceTimersByTime(ms);
  }
  waiting.get(id)?.end(JSON.stringify({ data }));
  waiting.delete(id);
}

const waitForBroadcast = (id: string) => ({
  name: "wait_for_broadcast",
  arguments: { id, timeout_seconds: 22 },
});

test.each(overHttp)("the counts of a broadcast are reported every 5 s: %s", async (kind, connect) => {
  const client = await connect({ upstream, url }, "sk_live_all");
  const received: Progress[] = [];
  slices.length = 0;
  vi.useFakeTimers({ toFake: ["performance"] });
  const options = { onprogress: (progress: Progress) => received.push(progress) };
  const last = counts(3_000, 12);
  const result = await meanwhile(callOf(client, kind)(waitForBroadcast("counted"), options), async () => {
    await endSlice("counted", counts(0, 0, 0));
    await endSlice("counted", counts(1_200, 0));
    // Unchanged: not reported, because each value must be greater than the last.
    await endSlice("counted", counts(1_200, 0));
    await endSlice("counted", counts(2_500, 12));
    await endSlice("counted", last, 2_000);
  });
  expect(result).toMatchObject({ structuredContent: { data: last } });
  expect(slices).toEqual(["5", "5", "5", "5", "2"]);
  expect(received).toEqual([
    { progress: 0, message: "Not started" },
    { progress: 1_200, total: 20_000, message: "1,200 of 20,000 sent" },
    { progress: 2_512, total: 20_000, message: "2,500 of 20,000 sent, 12 failed" },
  ]);
  await client.close();
});

test.each([
  ["the broadcast has ended", { ...counts(9, 0, 9), is_timed_out: false }, 5_000],
  ["the service stops before the slice is over", counts(4, 0, 9), 1_000],
])("a wait with progress ends when %s", async (_, data, ms) => {
  const client = await connectClient(url);
  slices.length = 0;
  vi.useFakeTimers({ toFake: ["performance"] });
  const [result] = await Promise.all([
    callOf(client, "v2")(waitForBroadcast("ended"), { onprogress: () => undefined }),
    endSlice("ended", data, ms),
  ]);
  expect(result).toMatchObject({ structuredContent: { data } });
  expect(slices).toHaveLength(1);
  await client.close();
});

test("without progress a broadcast is waited for with one call", async () => {
  const client = await connectClient(url);
  slices.length = 0;
  const [result] = await Promise.all([
    callOf(client, "v2")(waitForBroadcast("plain"), {}),
    endSlice("plain", counts(9, 0), 0),
  ]);
  expect(result).toMatchObject({ structuredContent: { data: counts(9, 0) } });
  expect(slices).toEqual(["22"]);
  await client.close();
});

test.concurrent.each(clientKinds)("a cancelled wait ends at the service too: %s", async (kind, connect) => {
  const client = await connect({ upstream, url }, "sk_live_all");
  const after = `cancel ${kind}`;
  const controller = new AbortController();
  const calling = callOf(client, kind)(waitCall(after), { signal: controller.signal });
  calling.catch(() => undefined);
  await vi.waitFor(() => expect(waiting.has(after)).toBe(true), { timeout: 15_000 });
  // Over stateless HTTP a cancellation of 2025 can't be related to its call: there, closing
  // the connection cancels.
  const endsByConnection = kind.endsWith("HTTP") && !kind.includes("2026");
  await (endsByConnection ? client.close() : controller.abort());
  await expect(calling).rejects.toThrow();
  await vi.waitFor(() => expect(waiting.get(after)?.destroyed).toBe(true), { timeout: 5_000 });
  await client.close();
});

test("a waiting call has a timeout of its wait plus 10 s, any other the default", () => {
  const waits = (input: object) => waitMsOf(messages.wait_for_message, { ...input });
  expect([waits({}), waits({ timeout_seconds: 55 }), waits({ timeout_seconds: 0 })]).toEqual([
    25_000, 55_000, 0,
  ]);
  expect(waitMsOf(contacts.list_contacts, { timeout_seconds: 55 })).toBe(0);
  expect([timeoutFor(55_000, 25_000), timeoutFor(0, 25_000)]).toEqual([65_000, 25_000]);
});
