/**
 * M1, M2 and M6: time until `tidings mcp` lists its tools on stdio, memory, and time to exit.
 *
 * Each round starts a bare node, the command in front of a scripted service, and the command with the
 * embedded service, which ends only after it has answered a call. Output on stdout that is not JSON-RPC, and
 * remaining child processes, fail the run. About a minute.
 *
 * `npm run bench -- stdio --peer PATH` also starts another MCP server in each round, with the same Node, and
 * prints the ratio of M1 to it. Install the peer outside this repository: `npm install --prefix /tmp/peer
 * @notionhq/notion-mcp-server`, then `--peer /tmp/peer/node_modules/@notionhq/notion-mcp-server/bin/cli.mjs`.
 * To use another version of Node, run `npx -y -p node@24 node --import tsx bench/run.ts stdio`.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { allScopes } from "../tools/contract/index.ts";
import { median } from "./support/median.ts";

const rounds = 15;
const own = ["dist/tidings.js", "mcp"];
const { peer } = parseArgs({ options: { peer: { type: "string" } } }).values;
/** A process that takes longer counts as hanging. */
const timeoutMs = 20_000;
const inherited = { PATH: process.env.PATH ?? "", HOME: tmpdir(), TIDINGS_LOG_LEVEL: "error" };

interface Round {
  readonly listMs: number;
  /** Peak memory until the list was answered, and until the input ended. */
  readonly listMb: number;
  readonly peakMb: number;
  readonly exitMs: number;
}

const upstream = createServer((_, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ data: { scopes: allScopes } }));
}).listen(0, "127.0.0.1");
await once(upstream, "listening");
const { port } = upstream.address() as AddressInfo; // it listens on a TCP port
const dataDir = await mkdtemp(join(tmpdir(), "tidings-bench-"));

const forwardingEnv = {
  ...inherited,
  TIDINGS_BASE_URL: `http://127.0.0.1:${port}`,
  TIDINGS_API_KEY: "sk_live_bench",
};
const embeddedEnv = { ...inherited, TIDINGS_DATA_DIR: dataDir };
let strayLines = 0;
let remainingChildren = 0;

const bare: number[] = [];
const forwarding: Round[] = [];
const embedded: Round[] = [];
const peers: Round[] = [];
await runOnce(own, embeddedEnv, "list_contacts"); // creates the data folder
for (let round = 0; round < rounds; round += 1) {
  bare.push(await timeBare());
  forwarding.push(await runOnce(own, forwardingEnv));
  embedded.push(await runOnce(own, embeddedEnv, "list_contacts"));
  if (peer !== undefined) {
    peers.push(await runOnce([peer], inherited));
  }
}
upstream.closeAllConnections();
upstream.close();
await rm(dataDir, { recursive: true });

const load = loadavg()[0]?.toFixed(2);
console.log(`Node ${process.versions.node}, medians of ${rounds}, load average ${load}`);
console.log(`bare node -e 0:       ${median(bare).toFixed(0)} ms, ${measureBareMb().toFixed(1)} MB`);
report("M1 forwarding", forwarding);
report("M2 embedded  ", embedded);
console.log(`M2 / M1:              ${ratio(embedded, forwarding)} (target 1.3)`);
if (peer !== undefined) {
  report("peer         ", peers);
  console.log(`M1 / peer:            ${ratio(forwarding, peers)} (target 0.9 on Node 24, 1.2 on Node 20)`);
}
console.log(`lines on stdout that are not JSON-RPC: ${strayLines}; children left: ${remainingChildren}`);
console.log("targets: M1 65 MB, M6 200 ms");
process.exitCode = strayLines + remainingChildren > 0 ? 1 : 0;

/** One run: spawn, list, optionally a call, end of input, exit. */
async function runOnce(args: readonly string[], env: NodeJS.ProcessEnv, tool?: string): Promise<Round> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "ignore"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  const request = createRequest(child);
  await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "0" },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  await request("tools/list", {});
  const listMs = performance.now() - started;
  const listMb = readPeakMb(child);
  if (tool !== undefined) {
    await request("tools/call", { name: tool, arguments: {} });
  }
  const peakMb = readPeakMb(child);
  const children = childrenOf(child);
  const endedAt = performance.now();
  const exited = once(child, "exit");
  child.stdin.end();
  await exited;
  clearTimeout(timer);
  remainingChildren += children.filter(isAlive).length;
  return { listMs, listMb, peakMb, exitMs: performance.now() - endedAt };
}

/** Sends requests and waits for the response with the same id; counts lines that are not JSON-RPC. */
function createRequest(child: ChildProcess) {
  const waiting = new Map<unknown, () => void>();
  let next = 0;
  if (!child.stdout) {
    throw new Error("the process has no output");
  }
  createInterface(child.stdout).on("line", (line) => {
    const id = readId(line);
    waiting.get(id)?.();
    waiting.delete(id);
  });
  return (method: string, params: object): Promise<void> => {
    next += 1;
    const id = next;
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      child.once("exit", () => reject(new Error(`the process ended before it answered ${method}`)));
    });
  };
}

function readId(line: string): unknown {
  try {
    const message: unknown = JSON.parse(line);
    if (typeof message === "object" && message !== null && "jsonrpc" in message && "id" in message) {
      return message.id;
    }
  } catch {
    // Counted below as a stray line.
  }
  strayLines += 1;
  return undefined;
}

function readPeakMb({ pid }: ChildProcess): number {
  return parsePeakMb(readFileSync(`/proc/${pid}/status`, "utf8"));
}

function parsePeakMb(status: string): number {
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

function childrenOf({ pid }: ChildProcess): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function timeBare(): Promise<number> {
  const started = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return performance.now() - started;
}

function measureBareMb(): number {
  const script = "process.stdout.write(fs.readFileSync('/proc/self/status'))";
  return median(
    Array.from({ length: 5 }, () =>
      parsePeakMb(execFileSync(process.execPath, ["-e", script], { encoding: "utf8", timeout: timeoutMs })),
    ),
  );
}

/** The ratio of the median times until the list was answered. */
function ratio(numerator: readonly Round[], denominator: readonly Round[]): string {
  const medianOf = (rounds: readonly Round[]) => median(rounds.map(({ listMs }) => listMs));
  return (medianOf(numerator) / medianOf(denominator)).toFixed(2);
}

function report(what: string, results: readonly Round[]): void {
  const of = (field: keyof Round) => results.map((result) => result[field]);
  const list = of("listMs");
  console.log(
    `${what}:        list ${median(list).toFixed(0)} ms (${Math.min(...list).toFixed(0)}–${Math.max(...list).toFixed(0)}), ` +
      `peak ${median(of("listMb")).toFixed(1)} MB by then, ${median(of("peakMb")).toFixed(1)} MB in all; ` +
      `M6 exit ${median(of("exitMs")).toFixed(0)} ms (longest ${Math.max(...of("exitMs")).toFixed(0)})`,
  );
}
