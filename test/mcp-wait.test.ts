/** A tool that waits: progress while it does, and an end as soon as nobody waits any more. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { patienceOf, waitMsOf } from "../src/client/index.ts";
import { createNarrowing, noNarrowing } from "../src/mcp/narrow.ts";
import { tools } from "../src/mcp/tools.ts";
import { contacts } from "../tools/contacts.ts";
import { allScopes } from "../tools/contract/index.ts";
import { messages } from "../tools/messages/index.ts";
import { type Connected, clients, connect, serveHttp } from "./support/mcp-face.ts";
import type { Upstream } from "./support/upstream.ts";

const answer = { data: { messages: [], cursor: "c", is_timed_out: true } };
/** The waits that have reached the service, by their cursor, and its answers to come. */
const waiting = new Map<string, ServerResponse>();
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
    response.end(JSON.stringify({ data: { scopes: allScopes } }));
  }).listen(0, "127.0.0.1");
  await once(service, "listening");
  const { port } = service.address() as AddressInfo; // a TCP port, as just asked for
  const asked: Upstream["asked"] = [];
  upstream = {
    url: `http://127.0.0.1:${port}`,
    asked,
    answer: () => "hang",
    [Symbol.asyncDispose]: async () => void service.closeAllConnections(),
  };
  const narrowing = createNarrowing(tools, { ...noNarrowing, mode: "search" });
  const faces = [await serveHttp(upstream), await serveHttp(upstream, { narrowing })];
  open.push(...faces, { close: async () => void service.closeAllConnections() });
  [url = "", searchUrl = ""] = faces.map((face) => face.url);
});
afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
});

interface Options {
  readonly onprogress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}
interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}
type Call = (call: { name: string; arguments: object }, options: Options) => Promise<object>;

/** Both generations of the client take options, at another place each. */
function callOf(client: Connected, kind: string): Call {
  const callTool = client.callTool.bind(client) as (...given: unknown[]) => Promise<object>;
  return (call, options) =>
    kind.startsWith("v1") ? callTool(call, undefined, options) : callTool(call, options);
}

const named = (after: string) => ({
  name: "wait_for_message",
  arguments: { after, timeout_seconds: 20 },
});

test.concurrent.each(clients)("progress goes out each 5 s: %s", async (kind, begin) => {
  const client = await begin({ upstream, url }, "sk_live_all");
  await reportsProgress(callOf(client, kind), named(`progress ${kind}`), `progress ${kind}`);
  await client.close();
});

test.concurrent("the same through execute_tool in search mode", async () => {
  const client = await connect(searchUrl);
  const { arguments: given, name } = named("progress search");
  const call = { name: "execute_tool", arguments: { name, arguments: given } };
  await reportsProgress(callOf(client, "v2"), call, "progress search");
  await client.close();
});

async function reportsProgress(
  call: Call,
  wanted: { name: string; arguments: object },
  after: string,
): Promise<void> {
  const told: Progress[] = [];
  const onprogress = (progress: Progress) => {
    told.push(progress);
    if (told.length === 2) {
      waiting.get(after)?.end(JSON.stringify(answer));
    }
  };
  const result = await call(wanted, { onprogress });
  expect(result).toMatchObject({ structuredContent: answer });
  const [first, second] = told.map(({ progress }) => progress);
  expect([(first ?? 0) >= 5, (second ?? 0) > (first ?? 0), told.length]).toEqual([true, true, 2]);
  for (const { progress, ...rest } of told) {
    expect(rest).toMatchObject({ total: 20, message: `Waiting for a message: ${20 - progress} s left` });
  }
}

test.concurrent.each(clients)("cancelled, it ends at the service too: %s", async (kind, begin) => {
  const client = await begin({ upstream, url }, "sk_live_all");
  const after = `cancel ${kind}`;
  const giveUp = new AbortController();
  const calling = callOf(client, kind)(named(after), { signal: giveUp.signal });
  calling.catch(() => undefined);
  await vi.waitFor(() => expect(waiting.has(after)).toBe(true), { timeout: 15_000 });
  // Over stateless HTTP nobody can tell whose call a cancellation of 2025 means: there the connection counts.
  const isConnection = kind.endsWith("HTTP") && !kind.includes("2026");
  await (isConnection ? client.close() : giveUp.abort());
  await expect(calling).rejects.toThrow();
  await vi.waitFor(() => expect(waiting.get(after)?.destroyed).toBe(true), { timeout: 5_000 });
  await client.close();
});

test("a call that waits has its wait and 10 s more, any other its usual time", () => {
  const waits = (given: object) => waitMsOf(messages.wait_for_message, { ...given });
  expect([waits({}), waits({ timeout_seconds: 55 }), waits({ timeout_seconds: 0 })]).toEqual([
    25_000, 55_000, 0,
  ]);
  expect(waitMsOf(contacts.list_contacts, { timeout_seconds: 55 })).toBe(0);
  expect([patienceOf(55_000, 25_000), patienceOf(0, 25_000)]).toEqual([65_000, 25_000]);
});
