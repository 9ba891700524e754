/**
 * Erasing 50 contacts, one after the other, among many events and stored responses.
 *
 * There are 20,000 conversations with 600,000 events and 300,000 stored responses. Each contact has 40
 * messages, events and stored responses. The benchmark measures the DELETE request, which limits the duration
 * of its transaction, and the time from its response until the job has erased everything else. For
 * comparison, it measures one search in the text of the stored responses, as erasure once did within its
 * transaction. Runs on PostgreSQL, or with `--embedded` on the embedded database with a tenth of the rows.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { startApp } from "../src/app.ts";
import { createClient } from "../src/client/index.ts";
import { readConfig } from "../src/config/index.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { contacts } from "../tools/contacts.ts";
import { analyze } from "./support/analyze.ts";
import { fillConversations } from "./support/fill-conversations.ts";

const { values: options } = parseArgs({ options: { embedded: { type: "boolean", default: false } } });
const share = options.embedded ? 0.1 : 1;
const amounts = {
  conversations: 20_000 * share,
  messages: 100_000 * share,
  events: 600_000 * share,
  responses: 300_000 * share,
};
const first = { conversations: 50, rowsEach: 40 };
const targetMs = 50;
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = `tidings_erase_${process.pid}`;
const key = `sk_live_${"e".repeat(43)}`;
const log = { debug() {}, info() {}, warn() {}, error: console.error };

const dataDir = await mkdtemp(join(tmpdir(), "tidings-erase-"));
if (!options.embedded) {
  await runOnServer(server, `create database ${name}`);
}
const { config } = readConfig({
  TIDINGS_DATA_DIR: dataDir,
  TIDINGS_BOOTSTRAP_KEY: key,
  ...(options.embedded ? {} : { DATABASE_URL: withDatabase(server, name) }),
});
const app = await startApp({ config, log, listen: { host: "127.0.0.1", port: 0 }, runsJobs: false });
const { queries } = app.database;
const client = createClient({ baseUrl: app.address, key });
try {
  const { id: organization } = await queries
    .selectFrom("organizations")
    .select("id")
    .executeTakeFirstOrThrow();
  const seconds = await timed(() => fillConversations(queries, { organization, ...amounts, first }));
  await analyze(queries);
  console.log(
    `${app.database.engine}: ${Object.entries(amounts)
      .map(([what, count]) => `${count.toLocaleString("en")} ${what}`)
      .join(", ")}, filled in ${(seconds / 1_000).toFixed(0)} s`,
  );
  app.jobs.start();
  await measureErasures();
  await measureTextSearch(organization);
  await reportLeft();
} finally {
  await client.close();
  await app[Symbol.asyncDispose]();
  if (!options.embedded) {
    await runOnServer(server, `drop database ${name} with (force)`);
  }
  await rm(dataDir, { recursive: true });
}

/** An id as `fillConversations` makes it. */
function idOf(prefix: string, number: number): string {
  return `${prefix}_${number.toString(16).padStart(26, "0")}`;
}

async function measureErasures(): Promise<void> {
  const requests: number[] = [];
  const jobs: number[] = [];
  for (let number = 1; number <= first.conversations; number += 1) {
    requests.push(await timed(() => client.call(contacts.delete_contact, { id: idOf("con", number) })));
    jobs.push(await timed(untilErased));
  }
  report("DELETE request", requests, targetMs);
  report("job, from the response until nothing is left", jobs);
}

async function untilErased(): Promise<void> {
  while ((await queries.selectFrom("erasures").select("subject").limit(1).execute()).length > 0) {
    await sleep(2);
  }
}

async function measureTextSearch(organization: string): Promise<void> {
  const last = amounts.conversations;
  const patterns = [`%"${idOf("con", last)}"%`, `%"${idOf("conv", last)}"%`];
  const searches: number[] = [];
  for (let times = 0; times < 5; times += 1) {
    searches.push(
      await timed(() =>
        sql`
          select count(*) from idempotency
          where organization_id = ${organization} and body::text like any(${patterns}::text[])
        `.execute(queries),
      ),
    );
  }
  report("for comparison: one search by text", searches);
}

/** Rows of the erased contacts that still have content. */
async function reportLeft(): Promise<void> {
  const subjects = Array.from({ length: first.conversations }, (_, index) => [
    idOf("con", index + 1),
    idOf("conv", index + 1),
  ]).flat();
  const { rows } = await sql<Readonly<Record<string, number>>>`
    select
      (select count(*) from contacts where id = any(${subjects}::text[]) and phone_number is not null) as contacts,
      (select count(*) from messages where conversation_id = any(${subjects}::text[]) and content <> '{}') as messages,
      (select count(*) from events where conversation_id = any(${subjects}::text[])) as events,
      (select count(*) from idempotency where subjects && ${subjects}::text[]) as responses
  `.execute(queries);
  console.log(`left of the erased contacts, must be 0: ${JSON.stringify(rows[0])}`);
  process.exitCode = Object.values(rows[0] ?? { missing: 1 }).some((count) => count > 0) ? 1 : 0;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

function report(what: string, times: number[], target = Number.POSITIVE_INFINITY): void {
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.ceil(share * times.length) - 1] ?? 0;
  const [p50, p95, max] = [at(0.5), at(0.95), at(1)].map((ms) => ms.toFixed(1).padStart(7));
  const verdict = at(0.95) < target ? "" : `  (over ${target})`;
  console.log(`  ${what.padEnd(46)} p50 ${p50} ms   p95 ${p95} ms   max ${max} ms${verdict}`);
}
