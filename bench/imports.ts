/**
 * 100,000 contacts from a CSV: speed, memory, and latency of a list meanwhile; then again with three kills.
 *
 * `--rows N` imports fewer; `--embedded` runs on the embedded database with 10,000. The benchmark stops after
 * ten minutes. The file has invalid rows and repeated contacts, and every count, rejected line and phone
 * number is compared with the file.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { type Client, createClient } from "../src/client/index.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { contacts } from "../tools/contacts.ts";
import type { OutputOf } from "../tools/contract/index.ts";
import { imports } from "../tools/imports.ts";
import { uploads } from "../tools/uploads.ts";
import { createPeopleCsv, type PeopleCsv } from "./support/people-csv.ts";
import { type BenchService, residentMb, startService } from "./support/service.ts";

const { values: options } = parseArgs({
  options: {
    embedded: { type: "boolean", default: false },
    rows: { type: "string" },
    kills: { type: "string", default: "3" },
  },
});
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const rows = Number(options.rows ?? (options.embedded ? 10_000 : 100_000));
const port = 39_457;
const key = `sk_live_${"i".repeat(43)}`;
const longestMs = 600_000;
const people = createPeopleCsv(rows);
const bytes = Buffer.from([...people.chunks()].join(""));

type Report = OutputOf<typeof imports.get_import>["data"];

const kills = Number(options.kills);
const isRight = (await run(0)) && (kills === 0 || (await run(kills)));
process.exitCode = isRight ? 0 : 1;

/** Runs the import on a new database. @returns whether the result is correct. */
async function run(kills: number): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-imports-"));
  const name = `tidings_imports_${process.pid}`;
  const database = options.embedded ? undefined : withDatabase(server, name);
  const env = {
    TIDINGS_DATA_DIR: dataDir,
    ...(database === undefined ? {} : { DATABASE_URL: database }),
  };
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, key, timeoutMs: 60_000, retries: 20 });
  let service: BenchService | undefined;
  try {
    if (!options.embedded) {
      await runOnServer(server, `create database ${name}`);
    }
    service = await startService(port, key, env);
    await measureLists(client, idle3s, "when idle");
    const restart = async () => {
      await kill(service);
      service = await startService(port, key, env);
    };
    return await importPeople(client, { kills, restart, pid: () => service?.child.pid, database });
  } finally {
    await kill(service);
    await client.close();
    if (!options.embedded) {
      await runOnServer(server, `drop database if exists ${name} with (force)`);
    }
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function idle3s(): Promise<void> {
  await sleep(3_000);
}

async function kill(service: BenchService | undefined): Promise<void> {
  if (service && service.child.exitCode === null && service.child.signalCode === null) {
    service.child.kill("SIGKILL");
    await once(service.child, "exit");
  }
}

interface Trial {
  readonly kills: number;
  readonly restart: () => Promise<void>;
  readonly pid: () => number | undefined;
  /** The URL of the database; undefined for the embedded database. */
  readonly database: string | undefined;
}

async function importPeople(client: Client, { kills, restart, pid, database }: Trial): Promise<boolean> {
  const { data: upload } = await client.call(
    uploads.upload_file,
    {},
    { file: { name: "people.csv", size: bytes.length, open: () => readChunks() } },
  );
  const initialMb = await residentMb(pid());
  let peak = initialMb;
  let isMonotonic = true;
  const begin = performance.now();
  const { data: created } = await client.call(imports.import_contacts, { upload_id: upload.id });
  let report: Report = created;
  const follow = async () => {
    for (let killed = 0; report.status === "queued" || report.status === "running"; ) {
      await sleep(50);
      const before = report.total;
      report = (await client.call(imports.get_import, { id: created.id })).data;
      isMonotonic &&= report.total >= before;
      peak = Math.max(peak, await residentMb(pid()));
      if (killed < kills && report.total > (rows / (kills + 1)) * (killed + 1)) {
        killed += 1;
        await restart();
      }
      if (performance.now() - begin > longestMs) {
        throw new Error(`After ${longestMs / 1_000} s the import is at ${report.total} of ${rows} rows.`);
      }
    }
  };
  await (kills > 0 ? follow() : measureLists(client, follow, "meanwhile"));
  const seconds = (performance.now() - begin) / 1_000;
  const where = options.embedded ? "embedded" : "PostgreSQL";
  console.log(
    `${where}, ${kills} kills: ${rows} rows (${(bytes.length / 1e6).toFixed(1)} MB) in ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s; resident ${initialMb.toFixed(0)} → ${peak.toFixed(0)} MB (+${(peak - initialMb).toFixed(0)}); progress ${isMonotonic ? "only rises" : "FALLS"}`,
  );
  if (kills === 0) {
    // The total of a list takes longer with more contacts: this shows the cost of the contacts without the
    // cost of the import.
    await measureLists(client, idle3s, "afterwards");
  }
  return compare(report, await numbersOf(client, database)) && isMonotonic;
}

async function* readChunks(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) {
    yield bytes.subarray(at, at + 65_536);
  }
}

/** Lists contacts ten times a second while `run` runs, and prints the latency. */
async function measureLists(client: Client, run: () => Promise<void>, when: string): Promise<void> {
  const times: number[] = [];
  const requests: Promise<void>[] = [];
  const listContacts = async () => {
    const begin = performance.now();
    await client.call(contacts.list_contacts, {});
    times.push(performance.now() - begin);
  };
  const timer = setInterval(() => {
    const request = listContacts();
    // The error is reported at the end.
    request.catch(() => undefined);
    requests.push(request);
  }, 100);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  await Promise.all(requests);
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(share * times.length)] ?? Number.NaN).toFixed(1);
  console.log(
    `GET /v1/contacts ${when}: ${times.length} times, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1 - 1e-9)} ms`,
  );
}

/**
 * The phone numbers of all contacts. On PostgreSQL by one query, because late pages of a thousand are slow.
 */
async function numbersOf(client: Client, database: string | undefined): Promise<string[]> {
  if (database !== undefined) {
    const connection = new pg.Client({ connectionString: database });
    await connection.connect();
    const { rows: found } = await connection.query<{ number: string }>(
      "select phone_number as number from contacts",
    );
    await connection.end();
    return found.map(({ number }) => number);
  }
  const numbers: string[] = [];
  for (let page = 1; ; page += 1) {
    const { data } = await client.call(contacts.list_contacts, { page, per_page: 100 });
    numbers.push(...data.map(({ phone_number }) => phone_number ?? ""));
    if (data.length < 100) {
      return numbers;
    }
  }
}

function compare(report: Report, found: readonly string[]): boolean {
  const { lines, numbers, ...counts }: PeopleCsv["expected"] = people.expected;
  const reported = report.errors.map(({ line }) => line);
  const wrongLines = lines.slice(0, 1_000).filter((line, index) => reported[index] !== line).length;
  const wrongCounts = (["total", "created", "updated", "rejected"] as const).filter(
    (count) => report[count] !== counts[count],
  );
  const distinct = new Set(found);
  const lost = [...numbers].filter((number) => !distinct.has(number)).length;
  const doubled = found.length - distinct.size;
  const foreign = [...distinct].filter((number) => !numbers.has(number)).length;
  console.log(
    `  ${report.status}${report.failure ? ` (${report.failure})` : ""}: ${report.created} created, ${report.updated} updated, ${report.rejected} rejected${wrongCounts.map((count) => `; ${count} should be ${counts[count]}`).join("")}; ${reported.length} lines reported, ${wrongLines} of them wrong; ${lost} contacts lost, ${doubled} doubled, ${foreign} unknown`,
  );
  return report.status === "done" && wrongCounts.length + wrongLines + lost + doubled + foreign === 0;
}
