/**
 * Writes a dump of a database that this version has filled, for test/upgrade.test.ts: that test opens the
 * dumps of all versions with the present code. Run it once for each version that lands with a migration,
 * before the next migration is added. Needs pg_dump and PostgreSQL 15, because newer versions may write dumps
 * that PostgreSQL 15 can't load.
 *
 * The data is written through the API of a running service with a clock of its own. The service is then
 * stopped with jobs in its queue.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import type { Queries } from "../../src/database/database.ts";
import { migrations } from "../../src/database/migrations/index.ts";
import { ownerKey, startTestApp, type TestApp } from "../../test/support/app.ts";
import { runOnServer, withDatabase } from "../../test/support/postgres.ts";
import { openPhone } from "../../test/support/simulator.ts";
import { type DumpRecord, dumpFolder, whatsAppEnv } from "../../test/support/version-dumps.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../test/support/webhook-receiver.ts";
import { webhookEvents, webhooks } from "../../tools/webhooks.ts";
import { ada, fill } from "./fill.ts";
import { addPeople } from "./people.ts";
import { addPlans, addRules } from "./plans.ts";
import { queueWork } from "./queue-work.ts";
import { readAnswers } from "./read-answers.ts";
import { addWhatsApp, startWhatsApp } from "./whatsapp.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
/** Nothing listens at this address; the test sets another one. */
const noReceiver = "http://127.0.0.1:9/hooks";
/** The number of the last migration. */
const name = Object.keys(migrations).at(-1)?.slice(0, "0001".length);

await using database = await createDatabase("tidings_dump_version");
const record = await write();
const dump = await dumpDatabase(database.url);
await writeFile(join(dumpFolder, `${name}.sql`), dump);
await writeFile(join(dumpFolder, `${name}.json`), `${JSON.stringify(record, null, 2)}\n`);
console.log(`Written: ${dumpFolder}/${name}.sql, ${dump.length} characters, and ${name}.json.`);

async function createDatabase(database: string) {
  await runOnServer(server, `create database ${database}`);
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-dump-version-"));
  const url = withDatabase(server, database);
  return {
    url,
    env: { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir },
    async [Symbol.asyncDispose]() {
      await runOnServer(server, `drop database ${database} with (force)`);
      await rm(dataDir, { recursive: true });
    },
  };
}

/** Writes the data. The service has stopped when this function returns. */
async function write(): Promise<DumpRecord> {
  const startsAt = new Date("2026-03-02T09:00:00.000Z");
  await using emulator = await startWhatsApp(startsAt);
  await using app = await startTestApp({
    database,
    startsAt,
    env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true", ...whatsAppEnv(emulator) },
  });
  await using receiver = await startWebhookReceiver();
  const subscribed = [await subscribe(app, receiver)];
  await fill(app);
  await addPlans(app);
  await addRules(app);
  await addPeople(app);
  const whatsapp = await addWhatsApp(app, emulator);
  // The delivery of this event to the second webhook waits for a retry.
  await using failing = await startWebhookReceiver();
  failing.respond = () => ({ status: 500 });
  subscribed.push(await subscribe(app, failing));
  await openPhone(app, ada).write("Hello?");
  await app.runDueJobs();
  failing.respond = () => ({});
  const work = await queueWork(app);
  for (const { id } of subscribed) {
    await app.call(webhooks.update_webhook, { id, url: noReceiver });
  }
  await warnAboutEmptyTables(app.server.database.queries);
  return {
    stopped_at: app.now().toISOString(),
    key: ownerKey,
    ...work,
    whatsapp,
    webhooks: await Promise.all(
      subscribed.map(async (webhook) => ({ ...webhook, ...(await readDeliveries(app, webhook.id)) })),
    ),
    answers: await readAnswers(app),
  };
}

async function subscribe(app: TestApp, receiver: WebhookReceiver) {
  const { data } = await app.call(webhooks.create_webhook, { url: receiver.url, events: webhookEvents });
  receiver.secret = data.signing_secret;
  return { id: data.id, signing_secret: data.signing_secret };
}

async function readDeliveries(app: TestApp, id: string) {
  const { data } = await app.call(webhooks.list_webhook_deliveries, { id, per_page: 100 });
  const withStatus = (status: string) => data.filter((one) => one.status === status).map((one) => one.id);
  return { delivered: withStatus("delivered"), pending: withStatus("pending") };
}

/** Warns because a migration is tested only on tables that have rows. */
async function warnAboutEmptyTables(queries: Queries): Promise<void> {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1
  `.execute(queries);
  for (const { name } of tables) {
    const { rows } = await sql`select from ${sql.table(name)} limit 1`.execute(queries);
    if (rows.length === 0) {
      console.warn(`No rows: ${name}`);
    }
  }
}

/**
 * Only statements that every version of PostgreSQL and the embedded engine can run, and no commands of psql.
 */
async function dumpDatabase(url: string): Promise<string> {
  const options = ["--rows-per-insert=100", "--no-owner", "--no-privileges", "--no-comments"];
  const { stdout } = await promisify(execFile)("pg_dump", [...options, url], { maxBuffer: 1e8 });
  const isStatement = (line: string) => !/^(--|SET |SELECT pg_catalog\.set_config|\\)/.test(line);
  const text = stdout.split("\n").filter(isStatement).join("\n");
  return `${text.replace(/\n{3,}/g, "\n\n").trim()}\n`;
}
