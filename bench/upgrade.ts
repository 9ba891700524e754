/**
 * An upgrade of a PostgreSQL database with 5 million messages under load: how long was a write blocked?
 *
 * `--old DIR` is the folder of the old version with a built dist/. Its process creates the database, which is
 * then filled in SQL, with one content of an unknown type in a hundred messages. Eight clients send messages
 * to that process, a tenth of a second between two messages of each: first for ten seconds as a comparison,
 * and then while `tidings upgrade` of this version migrates the database. Printed are the time of each
 * migration, the longest answer, and the longest time in which no message was acknowledged. Ends with 1 if a
 * message was lost. `--messages N` fills fewer messages; 5 million need 40 GB of free disk.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { sql } from "kysely";
import { openDatabase } from "../src/database/connect.ts";
import type { Queries } from "../src/database/database.ts";
import { type RunMigration, readMigrationState } from "../src/database/migrate.ts";
import { withoutStatementLimit } from "../src/database/outage/index.ts";
import { connectTo, runOnServer, withDatabase } from "../test/support/postgres.ts";
import { fillConversations } from "./support/fill-conversations.ts";
import { describeErrors, type Round, seconds, startWriters } from "./support/outages/writers.ts";
import { startProgram } from "./support/service.ts";

const { values: options } = parseArgs({
  options: { old: { type: "string" }, messages: { type: "string", default: "5000000" } },
});
if (options.old === undefined) {
  throw new Error("Name the folder of the old version: --old DIR");
}
const program = join(options.old, "dist/tidings.js");
const messages = Number(options.messages);
const amounts = {
  conversations: Math.ceil(messages / 50),
  messages,
  events: Math.ceil(messages / 10),
  responses: Math.ceil(messages / 10),
};
/** The rows, the indexes, the write-ahead log and what an upgrade leaves of changed rows: 8 kB a message. */
const neededGb = messages * 8e-6;
const comparisonMs = 10_000;
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = `tidings_upgrade_${process.pid}`;
const url = withDatabase(server, name);
const key = `sk_live_${"u".repeat(43)}`;
const log = { debug() {}, info() {}, warn() {}, error: console.error };

const freeGb = await readFreeGb();
if (freeGb < neededGb) {
  console.log(`Skipped: ${neededGb} GB of free disk are needed, and ${freeGb.toFixed(0)} GB are free.`);
} else {
  await runOnServer(server, `create database ${name}`);
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-upgrade-"));
  try {
    process.exitCode = await main(dataDir);
  } finally {
    await rm(dataDir, { recursive: true });
    await runOnServer(server, `drop database ${name} with (force)`);
  }
}

/** Of the disk of the server's data, if the server is on this machine. */
async function readFreeGb(): Promise<number> {
  await using client = await connectTo(server);
  const [row] = await client.query("select current_setting('data_directory') as folder");
  const { bavail, bsize } = await statfs(String(row?.folder)).catch(() => statfs(tmpdir()));
  return (bavail * bsize) / 1e9;
}

async function main(dataDir: string): Promise<number> {
  const env = { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir };
  const old = await startProgram(program, { port: 39_441, key, env });
  try {
    await using database = await openDatabase({ url, dataDir, poolSize: 2, log });
    await fill(database.queries);
    const { pending } = await readMigrationState(database.queries);
    console.log(`${pending.length} migrations: ${pending.join(", ")}`);
    const writers = startWriters([old.baseUrl], key);
    const before = await writers.during(() => sleep(comparisonMs));
    describeRound("before the upgrade", before);
    const during = await writers.during(upgrade);
    describeRound("during the upgrade", during);
    await writers.end();
    return await reportLost(database.queries, [before, during]);
  } finally {
    old.child.kill("SIGTERM");
    await once(old.child, "exit");
  }
}

async function fill(queries: Queries): Promise<void> {
  const begin = performance.now();
  const { id: organization } = await queries
    .selectFrom("organizations")
    .select("id")
    .executeTakeFirstOrThrow();
  await withoutStatementLimit(async () => {
    const { drops, creations } = await readChecks(queries);
    await runAll(queries, drops);
    await fillConversations(queries, { organization, ...amounts, first: { conversations: 0, rowsEach: 0 } });
    await runAll(queries, creations);
    await sql`
      insert into message_originals (organization_id, message_id, original, received_at)
      select organization_id, id, jsonb_build_object('type', 'poll', 'text', repeat('What the channel sent. ', 20)), created_at
      from messages where hashtext(id) % 100 = 0
    `.execute(queries);
    await sql`vacuum analyze`.execute(queries);
  });
  const { rows } = await sql<{ gigabytes: string }>`
    select round(pg_database_size(current_database()) / 1e9, 1) as gigabytes
  `.execute(queries);
  console.log(
    `${messages.toLocaleString("en")} messages, ${rows[0]?.gigabytes} GB, filled in ${seconds(performance.now() - begin)}`,
  );
}

/**
 * The statements that drop the secondary indexes and the foreign keys of the large tables, and create them
 * again. To create them after the rows takes a fraction of the time.
 */
async function readChecks(queries: Queries) {
  const { rows } = await sql<{ drop: string; creation: string }>`
    select 'drop index ' || indexrelid::regclass as drop, pg_get_indexdef(indexrelid) as creation
    from pg_index
    where indrelid in ('messages'::regclass, 'events'::regclass) and not exists (
      select from pg_constraint where conindid = indexrelid
    )
    union all
    select format('alter table %s drop constraint %I', conrelid::regclass, conname),
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    from pg_constraint
    where contype = 'f' and conrelid in ('messages'::regclass, 'events'::regclass)
  `.execute(queries);
  return { drops: rows.map(({ drop }) => drop), creations: rows.map(({ creation }) => creation) };
}

async function runAll(queries: Queries, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(queries);
  }
}

async function upgrade(): Promise<void> {
  const begin = performance.now();
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["dist/tidings.js", "upgrade", "--on", url, "--json"],
    { env: process.env },
  );
  const duration = performance.now() - begin;
  for (const { name: migration, ms } of JSON.parse(stdout) as RunMigration[]) {
    console.log(`  ${migration.padEnd(28)}${seconds(ms)}`);
  }
  console.log(`upgraded in ${seconds(duration)}, with the start of the command and the waits for locks`);
}

function describeRound(when: string, round: Round): void {
  console.log(
    `${when}: ${round.acknowledged.length} messages acknowledged, longest answer ${seconds(round.slowestMs)}, longest time without an acknowledgement ${seconds(round.gapMs)}, errors: ${describeErrors(round)}`,
  );
}

/** Compares what was acknowledged with what is stored. Returns the exit code. */
async function reportLost(queries: Queries, rounds: readonly Round[]): Promise<number> {
  const ids = rounds.flatMap(({ acknowledged }) => acknowledged.map(({ id }) => id));
  const { rows } = await sql<{ stored: number; kept: number; originals: number }>`
    select
      (select count(*)::integer from messages where id = any(${ids}::text[])) as stored,
      (select count(*)::integer from messages where hashtext(id) % 100 = 0 and content ? 'channel_data') as kept,
      (select count(*)::integer from message_originals) as originals
  `.execute(queries);
  const [counts] = rows;
  const lost = ids.length - (counts?.stored ?? 0);
  console.log(
    `${ids.length} acknowledged, ${lost} lost; ${counts?.kept} of ${counts?.originals} contents copied to their messages`,
  );
  return lost > 0 ? 1 : 0;
}
