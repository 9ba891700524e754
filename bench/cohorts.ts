/**
 * S5: previews of cohorts over 1 million contacts on PostgreSQL, and the compiler against the evaluator.
 *
 * Previews are measured by kind of query, and those about dates again with a declared attribute.
 * `--queries 10000` compares that many random queries in SQL and in memory, on both engines, and measures
 * nothing. `--contacts N` measures with fewer contacts. `--seed N` generates other queries. `--lines 100000`
 * builds a cohort from a file.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { startApp } from "../src/app.ts";
import { type Client, createClient } from "../src/client/index.ts";
import { readConfig } from "../src/config/index.ts";
import type { Queries } from "../src/database/database.ts";
import { withoutStatementLimit } from "../src/database/outage/index.ts";
import { compareMembers, storeContacts } from "../test/support/cohort-members.ts";
import { meanwhile } from "../test/support/meanwhile.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { uploads } from "../tools/uploads.ts";

const { values: options } = parseArgs({
  options: {
    queries: { type: "string" },
    lines: { type: "string" },
    contacts: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    calls: { type: "string", default: "20" },
  },
});
/** A body of 100,000 lines is larger than the default limit. */
const bodyLimit = String(32 * 1024 * 1024);
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const key = `sk_live_${"c".repeat(43)}`;
const target = 300;

type RunningApp = Awaited<ReturnType<typeof startApp>>;

async function withApp(
  engine: "embedded" | "postgres",
  run: (app: RunningApp, organization: string) => Promise<void>,
) {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-cohorts-"));
  const name = `tidings_cohorts_${process.pid}`;
  const isServer = engine === "postgres";
  if (isServer) {
    await runOnServer(server, `create database ${name}`);
  }
  const { config } = readConfig({
    ...(isServer ? { DATABASE_URL: withDatabase(server, name) } : {}),
    TIDINGS_DATA_DIR: dataDir,
    TIDINGS_BOOTSTRAP_KEY: key,
    TIDINGS_OWNER_EMAIL: "owner@example.com",
    TIDINGS_OWNER_PASSWORD: "correct horse battery",
    TIDINGS_BODY_LIMIT: bodyLimit,
    TIDINGS_RATE_LIMIT: "100000",
    TIDINGS_RATE_BURST: "200000",
  });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const app = await startApp({
    config,
    log,
    listen: { host: "127.0.0.1", port: 0 },
    now: () => new Date(),
    runsJobs: false,
  });
  try {
    const { id } = await app.database.queries
      .selectFrom("organizations")
      .select("id")
      .executeTakeFirstOrThrow();
    await run(app, id);
  } finally {
    await app[Symbol.asyncDispose]();
    if (isServer) {
      await runOnServer(server, `drop database ${name} with (force)`);
    }
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Compares the compiler with the evaluator for 10,000 queries. */
async function compare({ database }: RunningApp, organization: string): Promise<void> {
  const count = Number(options.queries);
  const seed = Number(options.seed);
  await storeContacts(database, organization, { count: 150, seed });
  const startedAt = performance.now();
  const { difference, telling } = await compareMembers(database.queries, organization, { count, seed });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  console.log(
    `${database.engine}: ${difference ? `DIFFERENT: ${JSON.stringify(difference)}` : "same members"} for ${count} queries over 150 contacts in ${seconds} s; ${telling} select some but not all`,
  );
  process.exitCode ||= difference ? 1 : 0;
}

const condition = (attribute: string, operator: string, value?: unknown) => ({ attribute, operator, value });
const vip = condition("tags", "has_any", ["vip"]);
const germany = condition("country", "eq", "DE");
const silent = condition("last_user_message_at", "not_within_last", "30d");

const kinds: Readonly<Record<string, object>> = {
  "all contacts": {},
  "a country": germany,
  "a tag (10 %)": vip,
  "a rare tag (0.1 %)": condition("tags", "has_any", ["rare"]),
  "country, tag and 30 days of silence": { and: [germany, vip, silent] },
  "silent for 30 days": silent,
  "wrote within 7 days": condition("last_user_message_at", "within_last", "7d"),
  "part of a name": condition("name", "contains", "lóp"),
  "metadata, text": condition("metadata.plan", "eq", "pro"),
  "metadata, two levels": condition("metadata.crm.stage", "in", ["won", "lost"]),
  "metadata, number": condition("metadata.score", "gt", 900),
  "metadata, date": condition(
    "metadata.signed_up",
    "after",
    new Date(Date.now() - 115 * 86_400_000).toISOString(),
  ),
  "metadata, date within 30 days": condition("metadata.signed_up", "within_last", "30d"),
  "metadata, time": condition("metadata.seen_at", "within_last", "30d"),
  "an open conversation": condition("conversation.status", "eq", "open"),
  "an open one with a tag": {
    and: [
      condition("conversation.status", "eq", "open"),
      condition("conversation.tags", "has_any", ["billing"]),
    ],
  },
  "no conversation": { not: condition("conversation.status", "exists") },
  "tag or silent": { or: [vip, silent] },
  "nested, ten conditions": {
    and: [
      { or: [germany, condition("country", "in", ["FR", "BR"]), condition("metadata.plan", "eq", "team")] },
      { not: { or: [vip, condition("opted_out", "eq", true), condition("blocked", "eq", true)] } },
      condition("metadata.score", "between", [100, 800]),
      condition("created_at", "after", "2026-02-01T00:00:00Z"),
      condition("name", "exists"),
      silent,
    ],
  },
};

/** Measured again when the attribute is declared as a date. */
const datedKinds = ["all contacts", "metadata, date", "metadata, date within 30 days"];

async function measure({ database, address, jobs }: RunningApp, organization: string): Promise<void> {
  const contacts = Number(options.contacts);
  await withoutStatementLimit(() => fill(database.queries, organization, contacts));
  const client = createClient({ baseUrl: address, key, retries: 0, timeoutMs: 60_000 });
  await client.call(cohorts.preview_cohort, { query: {} });
  console.log(`previews over ${contacts} contacts, each ${options.calls} times:`);
  const times: number[] = [];
  for (const [kind, query] of Object.entries(kinds)) {
    times.push(...(await measureKind(client, kind, query)));
  }
  times.sort((one, other) => one - other);
  console.log(
    `all together: p50 ${times[times.length >> 1]?.toFixed(0)} ms, p95 ${times[Math.floor(0.95 * times.length)]?.toFixed(0)} ms`,
  );
  await client.call(cohorts.declare_attribute, { name: "metadata.signed_up", type: "date" });
  const declaredAt = performance.now();
  await jobs.runDue();
  console.log(`dates declared, ready after ${((performance.now() - declaredAt) / 1_000).toFixed(0)} s:`);
  await withoutStatementLimit(() => sql`vacuum analyze contacts`.execute(database.queries));
  for (const kind of datedKinds) {
    await measureKind(client, kind, kinds[kind] ?? {});
  }
  await client.close();
}

/** Prints the times of a kind of query, and returns them. */
async function measureKind(client: Client, kind: string, query: object): Promise<number[]> {
  const times: number[] = [];
  let count = 0;
  for (let n = 0; n < Number(options.calls); n += 1) {
    const startedAt = performance.now();
    count = (await client.call(cohorts.preview_cohort, { query: query as Record<string, unknown> })).data
      .contact_count;
    times.push(performance.now() - startedAt);
  }
  times.sort((one, other) => one - other);
  const p95 = times[Math.floor(0.95 * (times.length - 1))] ?? 0;
  console.log(
    `  ${kind.padEnd(38)} ${String(count).padStart(8)}   p50 ${(times[times.length >> 1] ?? 0).toFixed(0).padStart(5)} ms   p95 ${p95.toFixed(0).padStart(5)} ms${p95 < target ? "" : `  (over ${target})`}`,
  );
  return times;
}

if (options.lines !== undefined) {
  await withApp("postgres", buildFromFile);
} else if (options.queries === undefined) {
  await withApp("postgres", measure);
} else {
  await withApp("embedded", compare);
  await withApp("postgres", compare);
}

/** One line in a hundred is rejected, and one in ten repeats the number before it. */
async function buildFromFile({ address, jobs }: RunningApp): Promise<void> {
  const count = Number(options.lines);
  const client = createClient({ baseUrl: address, key, retries: 0, timeoutMs: 60_000 });
  const lines = Array.from({ length: count }, (_, index) => {
    const number = index % 10 === 1 ? index - 1 : index;
    return index % 100 === 5 ? "12345,Nobody" : `+4915${200_000_000 + number},Person ${index}`;
  });
  const content_base64 = Buffer.from(`phone,name\n${lines.join("\n")}\n`).toString("base64");
  const startedAt = performance.now();
  for (const kind of ["new contacts", "known contacts"]) {
    const { data: upload } = await client.call(uploads.upload_file, {
      content_base64,
      file_name: "people.csv",
    });
    const input = { name: kind, type: "csv", query: {}, upload_id: upload.id } as const;
    const { data: cohort } = await client.call(cohorts.create_cohort, input);
    const begun = performance.now();
    const progress: number[] = [];
    await meanwhile(jobs.runDue(), async () => {
      for (let isBuilding = true; isBuilding; ) {
        const { data } = await client.call(cohorts.get_cohort, { id: cohort.id });
        progress.push(data.lines_read);
        isBuilding = data.status === "building";
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    });
    const { data } = await client.call(cohorts.get_cohort, { id: cohort.id });
    const { status, contact_count, lines_read, lines_rejected, errors } = data;
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    console.log(
      `${kind}: ${seconds} s, ${status}, ${lines_read} lines, ${contact_count} contacts, ${lines_rejected} rejected, ${errors.length} listed, ${new Set(progress).size} steps of progress seen`,
    );
  }
  console.log(`both with their uploads: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  await client.close();
}

/** Contacts with tags, metadata and countries; half of them have a conversation. */
async function fill(queries: Queries, organization: string, contacts: number): Promise<void> {
  await sql`drop index contacts_search`.execute(queries);
  await sql`
    insert into contacts (organization_id, id, phone_number, name, search_text, tags, metadata, opted_out, country,
      created_at, updated_at, normalized_at)
    select ${organization}, 'con_' || lpad(to_hex(n), 24, '0'), number, name, lower(name) || ' ' || number,
      case when n % 1000 = 0 then array['rare', 'newsletter'] when n % 10 = 0 then array['vip']
        when n % 3 = 0 then array['customer', 'newsletter'] else '{}' end,
      jsonb_build_object('city', (array['Berlin', 'Paris', 'Madrid', 'São Paulo', 'München'])[1 + n % 5],
        'plan', (array['free', 'Pro', 'team'])[1 + n % 3], 'score', n % 1000, 'signed_up', to_char(at, 'YYYY-MM-DD'),
        'seen_at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'crm', jsonb_build_object('id', n::text, 'stage', (array['new', 'won', 'lost', 'open'])[1 + n % 4])),
      n % 50 = 0, (array['DE', 'US', 'FR', 'BR'])[1 + n % 4], at, at, at
    from (
      select n, '+4915' || (200000000 + n) as number,
        (array['Ada', 'Inés', 'José', 'Priya', 'Omar', 'Grace', 'Hugo'])[1 + n % 7] || ' ' ||
          (array['García', 'Müller', 'Silva', 'Okafor', 'López', 'Smith'])[1 + (n / 7) % 6] || ' ' || n as name,
        now() - interval '230 days' + n * interval '20 seconds' * (1000000.0 / ${contacts}::int) as at
      from generate_series(1, ${contacts}::int) as n
    ) as made
  `.execute(queries);
  await sql`
    insert into conversations (organization_id, id, inbox_id, contact_id, status, tags, last_message_at, last_user_message_at,
      created_at, updated_at)
    select ${organization}, 'conv_' || lpad(to_hex(n), 24, '0'), (select id from inboxes limit 1),
      'con_' || lpad(to_hex(n * 2), 24, '0'), (array['open', 'closed', 'closed', 'closed', 'pending'])[1 + n % 5],
      case when n % 20 = 0 then array['billing'] else '{}' end, at, at, at, at
    from (
      select n, now() - n * interval '220 days' / (${contacts}::int / 2) as at from generate_series(1, ${contacts}::int / 2) as n
    ) as made
  `.execute(queries);
  await sql`create index contacts_search on contacts using gin (search_grams(search_text)) with (fastupdate = off)`.execute(
    queries,
  );
  await sql`vacuum analyze`.execute(queries);
}
