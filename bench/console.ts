/**
 * The console in Chromium with 100,000 conversations on PostgreSQL: the inbox after the answer, a message
 * from the phone to the inbox, the rows of a long thread, and the memory after many events.
 *
 * Also prints the compressed size of each part of the console. Takes some minutes, most of them for the
 * memory. With names it measures these alone: `npm run bench -- console list arrival`.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { chromium } from "playwright-core";
import { browserPath } from "../test/support/browser.ts";
import { readFileSizes, readPageSizes } from "../test/support/console-sizes.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { measureHeap } from "./support/console/heap.ts";
import { measureArrival, measureList } from "./support/console/inbox.ts";
import { type ConsoleBench, report, signIn } from "./support/console/page.ts";
import { measureRows } from "./support/console/rows.ts";
import { fillOrganization } from "./support/fill-organization.ts";
import { startService } from "./support/service.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const database = "tidings_console";
const key = `sk_live_${"c".repeat(43)}`;
const owner = { email: "owner@example.com", password: "correct horse battery" };
const amounts = { contacts: 100_000, conversations: 100_000, messagesEach: 2, messagesInFirst: 10_000 };

const parts: Readonly<Record<string, (bench: ConsoleBench) => Promise<void>>> = {
  list: measureList,
  arrival: measureArrival,
  rows: (bench) => measureRows(bench, `conv_${(1).toString(16).padStart(24, "0")}`),
  heap: measureHeap,
};
const chosen = process.argv.slice(2);

await reportSizes();
await runOnServer(server, `drop database if exists ${database} with (force)`);
await runOnServer(server, `create database ${database}`);
const url = withDatabase(server, database);
const dataDir = await mkdtemp(join(tmpdir(), "tidings-console-"));
const { child, baseUrl } = await startService(39_431, key, {
  DATABASE_URL: url,
  TIDINGS_DATA_DIR: dataDir,
  TIDINGS_OWNER_EMAIL: owner.email,
  TIDINGS_OWNER_PASSWORD: owner.password,
});
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
try {
  await fill();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const bench: ConsoleBench = { context, baseUrl, key };
  await signIn(bench, owner);
  for (const name of chosen.length > 0 ? chosen : Object.keys(parts)) {
    await parts[name]?.(bench);
  }
} finally {
  await browser.close();
  child.kill();
  await once(child, "exit");
  await runOnServer(server, `drop database ${database} with (force)`);
  await rm(dataDir, { recursive: true });
}

async function fill(): Promise<void> {
  const startedAt = performance.now();
  const direct = new pg.Client({ connectionString: url });
  await direct.connect();
  // Without the checks of foreign keys, which take longer than the rows.
  await direct.query("set session_replication_role = replica");
  const { rows } = await direct.query<{ id: string }>("select id from organizations");
  await fillOrganization(direct, rows[0]?.id ?? "", amounts);
  await direct.end();
  report("filled", `${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
}

async function reportSizes(): Promise<void> {
  const folder = new URL("../dist/console/", import.meta.url);
  const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;
  for (const [file, size] of [...(await readFileSizes(folder))].sort(([, a], [, b]) => b - a)) {
    report(`gzip of ${file}`, kilobytes(size));
  }
  for (const { page, own, firstLoad } of await readPageSizes(folder)) {
    if (page.startsWith("inbox-page-")) {
      report("the inbox's own part", kilobytes(own), { value: own / 1_000, target: 25 });
      report("first load of the inbox", kilobytes(firstLoad), { value: firstLoad / 1_000, target: 80 });
    }
  }
}
