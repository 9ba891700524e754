/**
 * S7: time from the command to the first answer of the built service, on a new and on an old data folder.
 *
 * `--program PATH/dist/tidings.js`, which may be repeated, also measures builds in other folders, in the same
 * rounds.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { median } from "./support/median.ts";

const { values: options } = parseArgs({
  options: {
    program: { type: "string", multiple: true, default: ["dist/tidings.js"] },
    rounds: { type: "string", default: "5" },
  },
});
const rounds = Number(options.rounds);
const port = "39417";
const key = `sk_live_${"b".repeat(43)}`;

interface Times {
  readonly fresh: number[];
  readonly existing: number[];
  readonly mcp: number[];
}

const bare: number[] = [];
const measured = options.program.map((program) => ({
  program,
  times: { fresh: [], existing: [], mcp: [] } as Times,
}));

for (let round = 0; round < rounds; round += 1) {
  bare.push(await timeBare());
  for (const { program, times } of measured) {
    await withFolder(async (dataDir) => {
      times.fresh.push(await timeStart(program, dataDir));
      times.existing.push(await timeStart(program, dataDir));
    });
    await withFolder(async (dataDir) => times.mcp.push(await timeMcpCall(program, dataDir)));
  }
}
console.log(`Medians of ${rounds} rounds`);
console.log(`bare node -e 0: ${median(bare)} ms`);
for (const { program, times } of measured) {
  report(program, times);
}

function report(program: string, times: Times): void {
  const [fresh, existing, mcp] = [median(times.fresh), median(times.existing), median(times.mcp)];
  const ratio = (existing / median(bare)).toFixed(1);
  console.log(`\n${program}`);
  console.log(`existing folder:              ${existing} ms, ${ratio} x bare node (target 20 x)`);
  console.log(
    `new folder:                   ${fresh} ms, existing + ${fresh - existing} ms (target + 1500 ms)`,
  );
  console.log(`first MCP call, new folder:   ${mcp} ms`);
}

async function withFolder(measure: (dataDir: string) => Promise<unknown>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-bench-"));
  await measure(dataDir);
  await rm(dataDir, { recursive: true });
}

function settings(dataDir: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    TIDINGS_DATA_DIR: dataDir,
    PORT: port,
    TIDINGS_BOOTSTRAP_KEY: key,
    TIDINGS_LOG_LEVEL: "error",
  };
}

/** Milliseconds from the spawn to the first successful request with a key. */
async function timeStart(program: string, dataDir: string): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, [program, "serve"], { env: settings(dataDir), stdio: "ignore" });
  while (!(await isAnswered())) {
    await sleep(10);
  }
  const ms = Math.round(performance.now() - started);
  child.kill("SIGTERM");
  await once(child, "exit");
  return ms;
}

async function isAnswered(): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/contacts`, { headers: { "x-api-key": key } }).catch(
    () => undefined,
  );
  return answer?.ok ?? false;
}

/** Milliseconds from the spawn to the result of the first tool that reads the database. */
async function timeMcpCall(program: string, dataDir: string): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, [program, "mcp"], {
    env: settings(dataDir),
    stdio: ["pipe", "pipe", "ignore"],
  });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "bench", version: "1" };
  send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  await answers.next();
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/call", params: { name: "list_contacts", arguments: {} } });
  const { value: answer } = await answers.next();
  const ms = Math.round(performance.now() - started);
  const { result } = JSON.parse(answer);
  if (result?.isError !== false && result?.structuredContent === undefined) {
    throw new Error(`list_contacts failed: ${answer}`);
  }
  child.stdin.end();
  await once(child, "exit");
  return ms;
}

async function timeBare(): Promise<number> {
  const started = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return Math.round(performance.now() - started);
}
