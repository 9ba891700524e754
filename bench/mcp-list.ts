/**
 * M4: CPU time of `tools/list` over HTTP in the server per call, with the key's look-up measured separately.
 *
 * The server runs in its own process and reports its CPU time before and after. It looks up the key by its
 * hash in memory on every call; a second server does not check the key. The baseline is node:http with a
 * response of the same size. About 30 s.
 */
import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import { type Dispatcher, Pool } from "undici";
import { createHttpTransport } from "../src/client/index.ts";
import { createMcpHttpHandler } from "../src/mcp/http.ts";
import { allScopes, readCredential } from "../tools/contract/index.ts";
import { mcpRequest, modernMeta } from "./support/mcp-request.ts";
import { median } from "./support/median.ts";

const rounds = 7;
const callsARound = 2_000;
const connections = 16;
const timeoutMs = 20_000;
const key = `sk_live_${"l".repeat(43)}`;
/** As a multiple of node:http with the same body in the same run: a ratio depends little on the machine. */
const target = 16;

const [, , role, argument = ""] = process.argv;
if (role === undefined) {
  await measure();
} else {
  await listen(role === "plain" ? answerPlainly(Number(argument)) : createMcpServer(role === "looked-up"));
}

interface Server {
  readonly name: string;
  readonly child: ChildProcess;
  readonly address: string;
  readonly request: Dispatcher.RequestOptions;
}

async function measure(): Promise<void> {
  const lookedUp = await start("looked-up");
  const open = await start("open");
  const size = await sizeOf(lookedUp, modernList());
  const plain = await start("plain", String(size));
  const servers: readonly Server[] = [
    { name: "node:http, same body", ...plain, request: modernList() },
    { name: "2026-07-28", ...lookedUp, request: modernList() },
    { name: "2026-07-28, no look-up", ...open, request: modernList() },
    { name: "2025-11-25", ...lookedUp, request: legacyList() },
  ];
  const measured = servers.map((server) => ({ server, micros: [] as number[] }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { server, micros } of measured) {
      const value = await cpuPerCall(server);
      // The first round is the warm-up.
      if (round > 0) {
        micros.push(value);
      }
    }
  }
  const baseline = median(measured[0]?.micros ?? []);
  for (const { server, micros } of measured) {
    const middle = median(micros);
    const ratio = (middle / baseline).toFixed(1);
    console.log(`${server.name.padEnd(24)} ${middle.toFixed(0).padStart(5)} µs CPU a call  × ${ratio}`);
    server.child.kill();
  }
  console.log(`the look-up by itself    ${measureLookUp().toFixed(1).padStart(5)} µs`);
  console.log(
    `answer ${size} bytes; medians of ${rounds}, load average ${loadavg()[0]?.toFixed(2)}; target × ${target}`,
  );
}

async function cpuPerCall({ child, address, request }: Server): Promise<number> {
  const pool = new Pool(address, { connections, headersTimeout: 10_000, bodyTimeout: 10_000 });
  const before = await readCpuMicros(child);
  let remaining = callsARound;
  const runCalls = async (): Promise<void> => {
    while (remaining > 0) {
      remaining -= 1;
      const { statusCode, body } = await pool.request(request);
      await body.dump({ limit: 10_000_000 });
      if (statusCode !== 200) {
        throw new Error(`tools/list answered ${statusCode}`);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, runCalls));
  const spent = (await readCpuMicros(child)) - before;
  await pool.close();
  return spent / callsARound;
}

async function sizeOf({ address }: { address: string }, request: Dispatcher.RequestOptions): Promise<number> {
  const pool = new Pool(address);
  const text = await (await pool.request(request)).body.text();
  await pool.close();
  if (!text.includes('"get_contact"')) {
    throw new Error(`tools/list answered no tools: ${text.slice(0, 300)}`);
  }
  return Buffer.byteLength(text);
}

/** CPU time of the process, all threads. */
async function readCpuMicros(child: ChildProcess): Promise<number> {
  const answer = once(child, "message", { signal: AbortSignal.timeout(timeoutMs) });
  child.send("cpu");
  const [micros] = await answer;
  return Number(micros);
}

function modernList(): Dispatcher.RequestOptions {
  return listCall(
    { _meta: modernMeta },
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
  );
}

function legacyList(): Dispatcher.RequestOptions {
  return listCall({}, { "mcp-protocol-version": "2025-11-25" });
}

function listCall(params: object, headers: Readonly<Record<string, string>>): Dispatcher.RequestOptions {
  return mcpRequest(key, headers, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params }));
}

/** Starts this file in another role. @returns the process and its address. */
async function start(childRole: string, value = ""): Promise<{ child: ChildProcess; address: string }> {
  const child = fork(import.meta.filename, [childRole, value], { execArgv: ["--import", "tsx"] });
  const [address] = await once(child, "message", { signal: AbortSignal.timeout(timeoutMs) });
  return { child, address: String(address) };
}

async function listen(handle: RequestListener): Promise<void> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address() as AddressInfo; // it listens on a TCP port
  process.send?.(`http://127.0.0.1:${bound.port}`);
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.once("disconnect", () => process.exit(0));
}

function answerPlainly(size: number): RequestListener {
  const body = "x".repeat(size);
  return (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(body);
  };
}

function createMcpServer(isLookedUp: boolean): RequestListener {
  const quiet = () => undefined;
  const lookUp = createLookUp();
  const transport = createHttpTransport({ baseUrl: "http://127.0.0.1:9" });
  const identity = { transport, credentialId: "key_1", scopes: new Set(allScopes), count: quiet };
  const handle = createMcpHttpHandler({
    version: "0",
    log: { debug: quiet, info: quiet, warn: quiet, error: console.error },
  });
  return (request, response) =>
    handle(request, response, {
      maxMessages: 100,
      identify: async () =>
        isLookedUp ? { ...identity, ...lookUp(readCredential(request.headers)) } : identity,
    });
}

/** Keys in memory, by their hashes. */
function createLookUp() {
  const known = new Map([[hash(key), allScopes]]);
  return (credential = "") => {
    const scopes = known.get(hash(credential));
    if (!scopes) {
      throw new Error("unknown key");
    }
    return { scopes: new Set(scopes) };
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function measureLookUp(): number {
  const lookUp = createLookUp();
  const times = 100_000;
  const before = process.cpuUsage();
  for (let count = 0; count < times; count += 1) {
    lookUp(key);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}
