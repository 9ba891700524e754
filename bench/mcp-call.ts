/**
 * M3: `tools/call` over HTTP compared with the same REST call made directly: throughput and its ratio.
 *
 * Keep-alive, 16 connections, as many calls as are answered. Three services: the built service on the
 * embedded database, and scripted services that answer at once and after 20 ms, with the MCP server in front
 * of them in its own process. Every round measures REST and both protocols in turn. About 80 s.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, Pool } from "undici";
import { createClient, createHttpTransport } from "../src/client/index.ts";
import { createMcpHttpHandler } from "../src/mcp/http.ts";
import { contacts } from "../tools/contacts.ts";
import { allScopes } from "../tools/contract/index.ts";
import { mcpRequest, modernMeta } from "./support/mcp-request.ts";
import { median } from "./support/median.ts";

const connections = 16;
const rounds = 5;
const roundMs = 1_500;
const port = "39427";
const key = `sk_live_${"m".repeat(43)}`;
const contact = {
  id: "00000000-0000-7000-8000-000000000001",
  organization_id: "00000000-0000-7000-8000-000000000002",
  phone_number: "+14155550123",
  name: "Ann",
  tags: [],
  metadata: {},
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
};

const [, , role, argument = ""] = process.argv;
if (role === "upstream") {
  await listen(scriptedUpstream(Number(argument)));
} else if (role === "mcp") {
  await listen(createMcpServer(argument));
} else {
  const service = await measureService();
  const trivial = await measureScripted("trivial upstream", 0);
  await measureScripted("20 ms upstream", 20);
  const overheadMicros = trivial.mcpMicros - trivial.restMicros;
  const possible = service.restMicros / (service.restMicros + overheadMicros);
  console.log(
    `overhead of MCP: ${overheadMicros.toFixed(0)} µs a call; in front of this service a ratio of ${possible.toFixed(2)}`,
  );
  console.log(
    `medians of ${rounds}, load average ${loadavg()[0]?.toFixed(2)}; targets 0.5, and 0.85 at 20 ms`,
  );
}

interface CallTimes {
  readonly restMicros: number;
  /** With the newest revision of the protocol. */
  readonly mcpMicros: number;
}

/** The built service, whose MCP server calls its operations in the same process. */
async function measureService(): Promise<CallTimes> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-bench-"));
  const child = spawn(process.execPath, ["dist/tidings.js", "serve"], {
    env: {
      ...process.env,
      TIDINGS_DATA_DIR: dataDir,
      PORT: port,
      TIDINGS_BOOTSTRAP_KEY: key,
      TIDINGS_LOG_LEVEL: "error",
      TIDINGS_RATE_LIMIT: "1000000",
      TIDINGS_RATE_BURST: "1000000",
    },
    stdio: "ignore",
  });
  const address = `http://127.0.0.1:${port}`;
  const client = createClient({ baseUrl: address, key, retries: 100, timeoutMs: 20_000 });
  const { data } = await client.call(contacts.create_contact, { phone_number: "+14155550123", name: "Ann" });
  await client.close();
  const compared = await compare("service, embedded", address, address, data.id);
  child.kill("SIGTERM");
  await once(child, "exit");
  await rm(dataDir, { recursive: true });
  return compared;
}

async function measureScripted(what: string, delayMs: number): Promise<CallTimes> {
  const upstream = await start("upstream", String(delayMs));
  const mcp = await start("mcp", upstream.address);
  const compared = await compare(what, upstream.address, mcp.address, contact.id);
  mcp.child.kill();
  upstream.child.kill();
  return compared;
}

async function compare(what: string, rest: string, mcp: string, id: string): Promise<CallTimes> {
  const variants = [
    { name: "REST", origin: rest, request: restCall(id) },
    { name: "MCP 2026-07-28", origin: mcp, request: modernCall(id) },
    { name: "MCP 2025-11-25", origin: mcp, request: legacyCall(id) },
  ];
  const measured = variants.map((variant) => ({ ...variant, perSecond: [] as number[] }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { origin, request, perSecond } of measured) {
      const value = await throughput(origin, request);
      // The first round is the warm-up.
      if (round > 0) {
        perSecond.push(value);
      }
    }
  }
  const [direct = 0, modern = 0] = measured.map(({ perSecond }) => median(perSecond));
  for (const { name, perSecond } of measured) {
    const middle = median(perSecond);
    const perCall = (1e6 / middle).toFixed(0).padStart(5);
    const ratio = (middle / direct).toFixed(2);
    console.log(
      `${what.padEnd(18)} ${name.padEnd(15)} ${middle.toFixed(0).padStart(6)} calls/s ${perCall} µs each  ratio ${ratio}`,
    );
  }
  return { restMicros: 1e6 / direct, mcpMicros: 1e6 / modern };
}

/** Calls a second over all connections. @throws Error for a response without the contact. */
async function throughput(origin: string, request: Dispatcher.RequestOptions): Promise<number> {
  const pool = new Pool(origin, { connections, headersTimeout: 10_000, bodyTimeout: 10_000 });
  const started = performance.now();
  let done = 0;
  const runCalls = async (): Promise<void> => {
    while (performance.now() - started < roundMs) {
      const { statusCode, body } = await pool.request(request);
      const text = await body.text();
      if (statusCode !== 200 || !text.includes("+14155550123")) {
        throw new Error(`${request.path} answered ${statusCode}: ${text.slice(0, 300)}`);
      }
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, runCalls));
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  return done / seconds;
}

function restCall(id: string): Dispatcher.RequestOptions {
  return { method: "GET", path: `/v1/contacts/${id}`, headers: { "x-api-key": key } };
}

function modernCall(id: string): Dispatcher.RequestOptions {
  const extra = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "get_contact",
  };
  return mcpCall({ name: "get_contact", arguments: { id }, _meta: modernMeta }, extra);
}

function legacyCall(id: string): Dispatcher.RequestOptions {
  return mcpCall({ name: "get_contact", arguments: { id } }, { "mcp-protocol-version": "2025-11-25" });
}

function mcpCall(params: object, headers: Readonly<Record<string, string>>): Dispatcher.RequestOptions {
  return mcpRequest(key, headers, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
}

/** Starts this file in another role. @returns the process and its address. */
async function start(childRole: string, value: string): Promise<{ child: ChildProcess; address: string }> {
  const child = fork(import.meta.filename, [childRole, value], { execArgv: ["--import", "tsx"] });
  const [address] = await once(child, "message", { signal: AbortSignal.timeout(20_000) });
  return { child, address: String(address) };
}

async function listen(handle: RequestListener): Promise<void> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address() as AddressInfo; // it listens on a TCP port
  process.send?.(`http://127.0.0.1:${bound.port}`);
  process.once("disconnect", () => process.exit(0));
}

function scriptedUpstream(delayMs: number): RequestListener {
  const body = JSON.stringify({ data: contact });
  return async (request, response) => {
    request.resume();
    if (delayMs > 0) {
      await sleep(delayMs);
    }
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
    response.end(body);
  };
}

function createMcpServer(baseUrl: string): RequestListener {
  const quiet = () => undefined;
  const transport = createHttpTransport({ baseUrl });
  const identity = { transport, credentialId: "key_1", scopes: new Set(allScopes), count: quiet };
  const admission = { maxMessages: 100, identify: async () => identity };
  const handle = createMcpHttpHandler({
    version: "0",
    log: { debug: quiet, info: quiet, warn: quiet, error: console.error },
  });
  return (request, response) => handle(request, response, admission);
}
