/**
 * M1, M2 and M6: how soon `tidings mcp` lists its tools on stdio, what it takes, and how soon it is gone.
 *
 * Each round starts a bare node, the program before a scripted service, and the program with the embedded
 * service, which is left only after it has answered a call. Anything but JSON-RPC on stdout, and a child
 * that is left, fail the run. About a minute.
 *
 * `npm run bench -- stdio --peer PATH` also starts another MCP server in each round, with the same Node,
 * and prints the ratio of M1 to it. Install the peer outside this repository:
 * `npm install --prefix /tmp/peer @notionhq/notion-mcp-server`, then
 * `--peer /tmp/peer/node_modules/@notionhq/notion-mcp-server/bin/cli.mjs`. To use another version of Node,
 * run `npx -y -p node@24 node --import tsx bench/run.ts stdio`.
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
/** Past this a process is taken to hang. */
const patienceMs = 20_000;
const inherited = { PATH: process.env.PATH ?? "", HOME: tmpdir(), TIDINGS_LOG_LEVEL: "error" };

interface Round {
  readonly listMs: number;
  /** The most it held until the list was answered, and until it was left. */
  readonly listMb: number;
  readonly mostMb: number;
  readonly exitMs: number;
}

const upstream = createServer((_, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ data: { scopes: allScopes } }));
}).listen(0, "127.0.0.1");
await once(upstream, "listening");
const { port } = upstream.address() as AddressInfo; // a TCP port, as just asked for
const dataDir = await mkdtemp(join(tmpdir(), "tidings-bench-"));

const before = {
  ...inherited,
  TIDINGS_BASE_URL: `http://127.0.0.1:${port}`,
  TIDINGS_API_KEY: "sk_live_bench",
};
const within = { ...inherited, TIDINGS_DATA_DIR: dataDir };
let strayLines = 0;
let leftChildren = 0;

const bare: number[] = [];
const forwarding: Round[] = [];
const embedded: Round[] = [];
const peers: Round[] = [];
await runOnce(own, within, "list_contacts"); // makes the folder
for (let round = 0; round < rounds; round += 1) {
  bare.push(await timeBare());
  forwarding.push(await runOnce(own, before));
  embedded.push(await runOnce(own, within, "list_contacts"));
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
console.log(`lines on stdout that are not JSON-RPC: ${strayLines}; children left: ${leftChildren}`);
console.log("targets: M1 65 MB, M6 200 ms");
process.exitCode = strayLines + leftChildren > 0 ? 1 : 0;

/** One life of a program: spawn, list, perhaps a call, end of input, exit. */
async function runOnce(args: readonly string[], env: NodeJS.ProcessEnv, tool?: string): Promise<Round> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "ignore"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  const ask = createAsk(child);
  await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "0" },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  await ask("tools/list", {});
  const listMs = performance.now() - started;
  const listMb = peakMb(child);
  if (tool !== undefined) {
    await ask("tools/call", { name: tool, arguments: {} });
  }
  const mostMb = peakMb(child);
  const children = childrenOf(child);
  const leaving = performance.now();
  const gone = once(child, "exit");
  child.stdin.end();
  await gone;
  clearTimeout(timer);
  leftChildren += children.filter(isAlive).length;
  return { listMs, listMb, mostMb, exitMs: performance.now() - leaving };
}

/** Asks and waits for the answer of the same id; counts every line that is not JSON-RPC. */
function createAsk(child: ChildProcess) {
  const waiting = new Map<unknown, () => void>();
  let next = 0;
  if (!child.stdout) {
    throw new Error("the program has no output");
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
      child.once("exit", () => reject(new Error(`it ended before it answered ${method}`)));
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
    // counted below
  }
  strayLines += 1;
  return undefined;
}

function peakMb({ pid }: ChildProcess): number {
  return readPeakMb(readFileSync(`/proc/${pid}/status`, "utf8"));
}

function readPeakMb(status: string): number {
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
      readPeakMb(execFileSync(process.execPath, ["-e", script], { encoding: "utf8", timeout: patienceMs })),
    ),
  );
}

/** Of the median times to the list. */
function ratio(of: readonly Round[], to: readonly Round[]): string {
  const [ours, theirs] = [of, to].map((lives) => median(lives.map(({ listMs }) => listMs)));
  return ((ours ?? 0) / (theirs ?? 0)).toFixed(2);
}

function report(what: string, lives: readonly Round[]): void {
  const of = (field: keyof Round) => lives.map((life) => life[field]);
  const list = of("listMs");
  console.log(
    `${what}:        list ${median(list).toFixed(0)} ms (${Math.min(...list).toFixed(0)}–${Math.max(...list).toFixed(0)}), ` +
      `peak ${median(of("listMb")).toFixed(1)} MB by then, ${median(of("mostMb")).toFixed(1)} MB in all; ` +
      `M6 exit ${median(of("exitMs")).toFixed(0)} ms (most ${Math.max(...of("exitMs")).toFixed(0)})`,
  );
}
