/**
 * Backups that are made while clients write: each has every write that was acknowledged before it, and its
 * restore sends and charges nothing twice. With SOAK also from one engine to the other.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../src/database/connect.ts";
import { activity } from "../tools/activity.ts";
import { ledger } from "../tools/ledger.ts";
import { messages } from "../tools/messages/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { silentLog } from "./support/app.ts";
import {
  createEmbeddedTarget,
  createFolder,
  createPostgresTarget,
  type RestoreTarget,
} from "./support/backups.ts";
import { runJson } from "./support/command.ts";
import { queryOf } from "./support/database.ts";
import { iterations } from "./support/iterations.ts";
import { serverUrl } from "./support/postgres.ts";
import { openProcesses, type ServedProcess, waitUntil } from "./support/served-process.ts";

type Settings = Readonly<Record<string, string>>;

const clientCount = 3;

/** Clients that send one message after another, each to another number. */
function startClients({ client }: ServedProcess) {
  const acknowledged: string[] = [];
  let count = 0;
  let isEnding = false;
  const run = async () => {
    while (!isEnding) {
      count += 1;
      const to = `+1415555${String(count).padStart(4, "0")}`;
      const { data } = await client.call(messages.send_message, {
        to,
        type: "text",
        text: { body: "Hello" },
      });
      acknowledged.push(data.id);
    }
  };
  const clients = Promise.all(Array.from({ length: clientCount }, run));
  clients.catch(() => undefined); // observed by end
  return {
    acknowledged,
    async end() {
      isEnding = true;
      await clients;
    },
  };
}

/** Whatever was sent, stored or charged more than once; what should be there and is not. */
async function findWrong(
  { TIDINGS_DATA_DIR: dataDir = "", DATABASE_URL: url }: Settings,
  ids: readonly string[],
) {
  await using database = await openDatabase({ url, dataDir, log: silentLog });
  const query = queryOf(database);
  const stored = new Set((await query("select id from messages")).map(({ id }) => id));
  return {
    missing: ids.filter((id) => !stored.has(id)),
    doubled: await query(`
      select 'stored' as what, "to" as key from messages group by 2 having count(*) > 1
      union all select 'sent', phone_number from simulator_messages where direction = 'outbound'
      group by 2 having count(*) > 1
      union all select 'charged', message_id from ledger_entries where type = 'charge' group by 2 having count(*) > 1
    `),
  };
}

type Engine = "embedded" | "PostgreSQL";

const open: Record<Engine, () => Promise<RestoreTarget | undefined>> = {
  embedded: createEmbeddedTarget,
  PostgreSQL: createPostgresTarget,
};

const moves: readonly (readonly [Engine, Engine])[] =
  serverUrl === undefined
    ? [["embedded", "embedded"]]
    : [
        ["PostgreSQL", "PostgreSQL"],
        ["PostgreSQL", "embedded"],
        ["embedded", "PostgreSQL"],
        ["embedded", "embedded"],
      ];
const testedMoves = moves.slice(0, iterations(1, moves.length));

/** A message that was being sent is looked up when the lease of its job ends, 30 s after it was taken. */
const lookedUpWithinMs = 120_000;

test.for(testedMoves)("%s to %s", { timeout: 600_000 }, async ([from, to]) => {
  await using folder = await createFolder();
  await using target = await open[to]();
  const source = await open[from]();
  if (target === undefined || source === undefined) {
    throw new Error("There is no server.");
  }
  await using processes = await openProcesses(source);
  const original = await processes.serve();
  const hook = { url: "https://receiver.example/hook", events: ["message.received" as const] };
  await original.client.call(webhooks.create_webhook, hook);
  const clients = startClients(original);
  const hasCharges = async ({ client }: ServedProcess) =>
    (await client.call(ledger.list_ledger_entries, { type: "charge" })).data.length > 0;
  await waitUntil(async () => clients.acknowledged.length >= 30 && (await hasCharges(original)), 120_000);

  const backup = join(folder.path, "backup.tar.gz");
  const before = [...clients.acknowledged];
  const made = await runJson(["backup", backup, "--plain"], source.env);
  expect(made).toMatchObject({ problems: [], damaged_files: [], missing_files: [] });
  expect(made.sealed_values).toBeGreaterThan(0);
  const count = clients.acknowledged.length;
  await waitUntil(() => clients.acknowledged.length > count, 120_000);
  await clients.end();
  await original.process.end("SIGTERM");

  await runJson(["restore", backup], target.env);
  await using restoredProcesses = await openProcesses(target);
  const restored = await restoredProcesses.serve();
  const { unknown_after_restore: waiting } = await runJson(["release"], target.env);
  await runJson(["release", "--keys", "all"], target.env);
  const { client } = restored;
  for (const { id } of waiting.messages) {
    await waitUntil(
      async () => (await client.call(activity.explain_message, { id })).data.message.status !== "queued",
      lookedUpWithinMs,
    );
  }
  expect(await hasCharges(restored)).toBe(true);
  await restored.process.end("SIGTERM");
  expect(await findWrong(target.env, before)).toEqual({ missing: [], doubled: [] });
  // The ledger's sums, and every sealed value.
  const again = await runJson(["backup", join(folder.path, "again.tar.gz"), "--plain"], target.env);
  expect(again).toMatchObject({ problems: [], sealed_values: made.sealed_values });
});
