/**
 * S2: lists over REST on PostgreSQL, with 1 million contacts and 5 million messages.
 *
 * Lists contacts, conversations and messages.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { createClient } from "../src/client/index.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { contacts } from "../tools/contacts.ts";
import type { InputOf, Operation } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { fillOrganization } from "./support/fill-organization.ts";
import { startService } from "./support/service.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const database = "tidings_lists";
const key = `sk_live_${"l".repeat(43)}`;
const amounts = { contacts: 1_000_000, conversations: 480_000, messagesEach: 10, messagesInFirst: 200_010 };
const calls = 100;
const target = 60;

await runOnServer(server, `drop database if exists ${database} with (force)`);
await runOnServer(server, `create database ${database}`);
const url = withDatabase(server, database);
const dataDir = await mkdtemp(join(tmpdir(), "tidings-lists-"));
const { child, baseUrl } = await startService(39_419, key, { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir });
const client = createClient({ baseUrl, key });
try {
  await prepare();
  const conversation_id = `conv_${(1).toString(16).padStart(24, "0")}`;
  const other = `conv_${(7_777).toString(16).padStart(24, "0")}`;
  await measure("contacts, first pages", contacts.list_contacts, (n) => ({ page: 1 + (n % 20) }));
  await measure("contacts, to page 2,000", contacts.list_contacts, (n) => ({ page: 1 + n * 20 }));
  await measure("contacts, a rare name", contacts.list_contacts, (n) => ({ search: `silva ${500_000 + n}` }));
  await measure("contacts, a common name", contacts.list_contacts, () => ({ search: "lopez" }));
  await measure("contacts, two letters", contacts.list_contacts, (n) => ({
    search: ["zz", "ka", "q"][n % 3],
  }));
  await measure("contacts, part of a number", contacts.list_contacts, (n) => ({ search: `${770_000 + n}` }));
  await measure("conversations, first pages", conversations.list_conversations, (n) => ({
    page: 1 + (n % 20),
  }));
  await measure("conversations, to page 2,000", conversations.list_conversations, (n) => ({
    page: 1 + n * 20,
  }));
  await measure("conversations, open", conversations.list_conversations, () => ({ status: "open" }) as const);
  await measure("conversations, unassigned", conversations.list_conversations, () => {
    return { filter: "unassigned" } as const;
  });
  await measure(
    "conversations, longest waiting",
    conversations.list_conversations,
    () => ({ filter: "unanswered", sort: "waiting" }) as const,
  );
  await measure("conversations, by tag", conversations.list_conversations, () => ({ tag: "billing" }));
  await measure("conversations, favorites (none)", conversations.list_conversations, () => {
    return { filter: "favorite" } as const;
  });
  await measure("messages of a conversation of 10", messages.list_messages, () => ({
    conversation_id: other,
  }));
  await measure("messages of a conversation of 200,010", messages.list_messages, (n) => ({
    conversation_id,
    page: 1 + (n % 20),
  }));
} finally {
  await client.close();
  child.kill();
  await once(child, "exit");
  await runOnServer(server, `drop database ${database} with (force)`);
  await rm(dataDir, { recursive: true });
}

async function prepare(): Promise<void> {
  const direct = new pg.Client({ connectionString: url });
  await direct.connect();
  const startedAt = performance.now();
  const { rows } = await direct.query<{ id: string }>("select id from organizations");
  await fillOrganization(direct, rows[0]?.id ?? "", amounts);
  await direct.end();
  console.log(
    `filled in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s; each list ${calls} times:`,
  );
}

async function measure<Op extends Operation>(
  what: string,
  operation: Op,
  input: (n: number) => NoInfer<InputOf<Op>>,
): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < calls; n += 1) {
    const startedAt = performance.now();
    await client.call(operation, input(n));
    times.push(performance.now() - startedAt);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.floor(share * (calls - 1))] ?? 0;
  const p95 = at(0.95);
  const verdict = p95 < target ? "" : `  (over ${target})`;
  console.log(
    `  ${what.padEnd(38)} p50 ${at(0.5).toFixed(1).padStart(6)} ms   p95 ${p95.toFixed(1).padStart(6)} ms${verdict}`,
  );
}
