/** S7: time from the command to the first REST response of the built service, on a new and on an existing data folder. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./support/median.ts";

const rounds = 5;
const port = "39417";
const key = `sk_live_${"b".repeat(43)}`;

const fresh: number[] = [];
const existing: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-bench-"));
  fresh.push(await timeStart(dataDir));
  existing.push(await timeStart(dataDir));
  await rm(dataDir, { recursive: true });
}
console.log(`bare node -e 0:            ${await timeBare()} ms`);
console.log(`fresh folder, median of ${rounds}:    ${median(fresh)} ms (target 4000)`);
console.log(`existing folder, median of ${rounds}: ${median(existing)} ms (target 1500)`);

/** Milliseconds from the spawn to the first successful request with a key. */
async function timeStart(dataDir: string): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, ["dist/tidings.js", "serve"], {
    env: {
      ...process.env,
      TIDINGS_DATA_DIR: dataDir,
      PORT: port,
      TIDINGS_BOOTSTRAP_KEY: key,
      TIDINGS_LOG_LEVEL: "error",
    },
    stdio: "ignore",
  });
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

async function timeBare(): Promise<number> {
  const started = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return Math.round(performance.now() - started);
}
