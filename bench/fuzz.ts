/**
 * Fuzz: 10,000 generated invalid calls over REST, MCP over HTTP in both protocols, and MCP on stdio.
 *
 * The same seed generates the same calls: `npm run bench -- fuzz SEED`. Every call must be answered within 10
 * s with a status below 500, the service must survive, and stdout must contain only JSON-RPC. Violations are
 * printed with their input, and the run fails. Takes at most 115 s.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { type Dispatcher, Pool } from "undici";
import {
  fuzzKey,
  legacyCalls,
  modernCalls,
  restCalls,
  type StdioLine,
  stdioLines,
} from "./support/invalid-calls.ts";

const seed = Number(process.argv[2] ?? 20_261_121);
const counts = { REST: 4_000, "MCP 2026-07-28": 2_000, "MCP 2025-11-25": 2_000, stdio: 2_000 };
const parallel = 16;
const timeoutMs = 10_000;
const maxRunMs = 115_000;
const port = "39437";
const address = `http://127.0.0.1:${port}`;

const outcomes = new Map<string, number>();
const defects = new Map<string, Defect>();

/** Defects of one kind, with the shortest call that causes such a defect. */
interface Defect {
  readonly count: number;
  readonly input: string;
  readonly output: string;
}

setTimeout(() => {
  report("not done in time", "", `${maxRunMs} ms`);
  conclude();
  process.exit(1);
}, maxRunMs).unref();

const dataDir = await mkdtemp(join(tmpdir(), "tidings-fuzz-"));
const service = await startService();
process.once("exit", () => {
  service.kill("SIGKILL");
  rmSync(dataDir, { recursive: true, force: true });
});
const pool = new Pool(address, {
  connections: parallel,
  headersTimeout: timeoutMs,
  bodyTimeout: timeoutMs,
});

await callAll("REST", fc.sample(restCalls(), { seed, numRuns: counts.REST }));
await callAll("MCP 2026-07-28", fc.sample(modernCalls(), { seed, numRuns: counts["MCP 2026-07-28"] }));
await callAll("MCP 2025-11-25", fc.sample(legacyCalls(), { seed, numRuns: counts["MCP 2025-11-25"] }));
await callStdio(fc.sample(stdioLines(), { seed, numRuns: counts.stdio }));
await checkAlive();

await pool.destroy();
service.kill("SIGTERM");
await Promise.race([once(service, "exit"), sleep(timeoutMs)]);

conclude();

function conclude(): void {
  for (const [outcome, times] of [...outcomes].sort()) {
    console.log(`${String(times).padStart(6)}  ${outcome}`);
  }
  for (const [kind, { count: times, input, output }] of defects) {
    console.log(
      `DEFECT ${kind}, ${times} times\n  in:  ${input.slice(0, 1_000)}\n  out: ${output.slice(0, 500)}`,
    );
  }
  console.log(`seed ${seed}, ${defects.size} kinds of defect, load average ${loadavg()[0]?.toFixed(2)}`);
  process.exitCode = defects.size > 0 ? 1 : 0;
}

async function startService() {
  const env = {
    ...process.env,
    TIDINGS_DATA_DIR: dataDir,
    PORT: port,
    TIDINGS_BOOTSTRAP_KEY: fuzzKey,
    TIDINGS_LOG_LEVEL: "error",
    TIDINGS_RATE_LIMIT: "1000000",
    TIDINGS_RATE_BURST: "1000000",
  };
  const child = spawn(process.execPath, ["dist/tidings.js", "serve"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const until = performance.now() + 20_000;
  while (performance.now() < until && !(await isAnswered())) {
    await sleep(50);
  }
  return child;
}

async function isAnswered(): Promise<boolean> {
  const answer = await fetch(`${address}/v1/contacts`, { headers: { "x-api-key": fuzzKey } }).catch(
    () => undefined,
  );
  return answer?.ok ?? false;
}

async function checkAlive(): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null || !(await isAnswered())) {
    report("the service does not answer any more", "", "");
  }
}

function count(outcome: string): void {
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

function report(kind: string, input: unknown, output: string): void {
  const known = defects.get(kind);
  const text = JSON.stringify(input);
  const isShorter = known === undefined || text.length < known.input.length;
  const shown = isShorter ? { input: text, output } : known;
  defects.set(kind, { ...shown, count: (known?.count ?? 0) + 1 });
}

/** Makes the calls in order, `parallel` at a time. */
async function callAll(transport: string, calls: readonly Dispatcher.RequestOptions[]): Promise<void> {
  const queue = calls.values();
  const runCalls = async (): Promise<void> => {
    for (const call of queue) {
      await callOne(transport, call);
    }
  };
  await Promise.all(Array.from({ length: parallel }, runCalls));
}

async function callOne(transport: string, call: Dispatcher.RequestOptions): Promise<void> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { statusCode, body } = await pool.request({ ...call, signal });
    const text = await body.text();
    const outcome = transport === "REST" ? "" : ` ${readOutcome(text)}`;
    count(`${transport} ${statusCode}${outcome}`);
    if (statusCode >= 500 || isServerError(text)) {
      report(`${transport} ${statusCode}${outcome}`, call, text);
    }
  } catch (error) {
    count(`${transport} no answer`);
    report(`${transport} no answer`, call, String(error));
  }
}

/** Whether a tool failed because of the service: `… failed: internal (500). …` */
function isServerError(text: string): boolean {
  return / failed: \w+ \(5\d\d\)/.test(text) || /"code":-32603\b/.test(text);
}

function readOutcome(text: string): string {
  const code = /"error":\{"code":(-?\d+)/.exec(text)?.[1];
  if (code !== undefined) {
    return `error ${code}`;
  }
  if (text.includes('"isError":true')) {
    return "tool error";
  }
  return text.includes('"result"') ? "result" : "other";
}

/** Sends the lines to one process, `parallel` at a time. */
async function callStdio(lines: readonly StdioLine[]): Promise<void> {
  const child = spawn(process.execPath, ["dist/tidings.js", "mcp"], {
    env: {
      PATH: process.env.PATH ?? "",
      TIDINGS_BASE_URL: address,
      TIDINGS_API_KEY: fuzzKey,
      TIDINGS_LOG_LEVEL: "silent",
    },
    stdio: "pipe",
  });
  child.stderr.resume();
  child.stdin.on("error", () => undefined);
  const pending = readAnswers(child);
  const clientInfo = { name: "fuzz", version: "0" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  await write(child, pending, {
    id: "start",
    text: JSON.stringify({ jsonrpc: "2.0", id: "start", method: "initialize", params }),
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const queue = lines.values();
  const runCalls = async (): Promise<void> => {
    for (const line of queue) {
      if (child.exitCode === null) {
        await write(child, pending, line);
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, runCalls));
  await endInput(child);
}

async function endInput(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    report("stdio: the process ended by itself", "", String(child.exitCode ?? child.signalCode));
    return;
  }
  const exited = once(child, "exit");
  child.stdin.end();
  const hasExited = await Promise.race([exited.then(() => true), sleep(timeoutMs, false, { ref: false })]);
  if (!hasExited) {
    report("stdio: the process keeps running after its input ended", "", "");
    child.kill("SIGKILL");
  }
}

/** The callbacks of unanswered requests, by id. */
type PendingAnswers = Map<unknown, (answer: string) => void>;

function readAnswers(child: ChildProcessWithoutNullStreams): PendingAnswers {
  const pending: PendingAnswers = new Map();
  createInterface(child.stdout).on("line", (line) => {
    const id = readId(line);
    pending.get(id)?.(line);
    pending.delete(id);
  });
  return pending;
}

/** The id of an answer. A line that is not JSON-RPC is a defect. */
function readId(line: string): unknown {
  try {
    const message: unknown = JSON.parse(line);
    if (typeof message === "object" && message !== null && "jsonrpc" in message) {
      return "id" in message ? message.id : undefined;
    }
  } catch {
    // Reported below.
  }
  report("stdio: a line that is not JSON-RPC", "", line);
  return undefined;
}

async function write(
  child: ChildProcessWithoutNullStreams,
  pending: PendingAnswers,
  line: StdioLine,
): Promise<void> {
  const answered = new Promise<string>((resolve) => {
    if (line.id === undefined) {
      resolve("");
      return;
    }
    pending.set(line.id, resolve);
    setTimeout(() => resolve("none"), timeoutMs).unref();
  });
  child.stdin.write(`${line.text}\n`);
  const answer = await answered;
  if (line.id === undefined) {
    count("stdio no answer due");
    return;
  }
  const outcome = answer === "none" ? "no answer" : readOutcome(answer);
  count(`stdio ${outcome}`);
  if (answer === "none" || isServerError(answer)) {
    report(`stdio ${outcome}`, line.text, answer);
  }
}
