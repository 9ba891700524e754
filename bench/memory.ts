/**
 * Memory of the embedded service at rest, beside PGlite alone on the same data. About a minute.
 *
 * PGlite alone is measured twice: after it has opened the data, and after it has also read a row of each
 * table, which the service does as well. It has its default settings, with larger buffers than the service
 * gives it.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./support/median.ts";
import { residentMb, startService } from "./support/service.ts";

const rounds = 3;
const port = 39_471;
/** By then the first runs of the scheduled jobs are over. */
const restMs = 12_000;

const alone = `
  import { readFileSync } from "node:fs";
  import { PGlite } from "@electric-sql/pglite";
  const database = await PGlite.create({ dataDir: process.argv[1] });
  const residentMb = () => Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
  const opened = residentMb();
  const { rows } = await database.query("select tablename from pg_tables where schemaname = 'public'");
  for (const { tablename } of rows) {
    await database.query(\`select * from "\${tablename}" limit 1\`);
  }
  console.log(JSON.stringify({ opened, read: residentMb() }));
  process.exit();
`;

const service: number[] = [];
const opened: number[] = [];
const read: number[] = [];
const dataDir = await mkdtemp(join(tmpdir(), "tidings-bench-"));
await restAndStop();
for (let round = 0; round < rounds; round += 1) {
  service.push(await restAndStop());
  const args = ["--input-type=module", "--eval", alone, join(dataDir, "database")];
  const measured: { readonly opened: number; readonly read: number } = JSON.parse(
    execFileSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 }),
  );
  opened.push(measured.opened);
  read.push(measured.read);
}
await rm(dataDir, { recursive: true });
console.log(`Node ${process.versions.node}, medians of ${rounds}`);
report("embedded service at rest", service);
report("PGlite alone", opened);
report("PGlite alone, with its tables read", read);

/** Starts the service, lets it rest, and returns its memory. */
async function restAndStop(): Promise<number> {
  const { child } = await startService(port, `sk_live_${"m".repeat(43)}`, { TIDINGS_DATA_DIR: dataDir });
  await sleep(restMs);
  const resident = await residentMb(child.pid);
  child.kill("SIGTERM");
  await once(child, "exit");
  return resident;
}

function report(what: string, values: readonly number[]): void {
  console.log(`${what.padEnd(36)} ${median(values).toFixed(0)} MB`);
}
