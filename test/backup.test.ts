/** Backups: what they contain, on which engines they are restored, and what is rejected. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fill } from "../scripts/dump-version/fill.ts";
import { openArchive } from "../src/cli/manage/backup/archive/index.ts";
import { openPlace } from "../src/cli/manage/backup/place/index.ts";
import { readBackup } from "../src/cli/manage/backup/read-backup.ts";
import { readConfig } from "../src/config/index.ts";
import { auth } from "../tools/auth.ts";
import { messages } from "../tools/messages/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerEmail, ownerPassword, startTestApp, type TestApp } from "./support/app.ts";
import {
  createEmbeddedTarget,
  createFolder,
  createPostgresTarget,
  createTarget,
  digestTables,
  type RestoreTarget,
} from "./support/backups.ts";
import { runCommand, runJson } from "./support/command.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { openStream, requestStream } from "./support/event-stream.ts";
import { iterations } from "./support/iterations.ts";
import { waitUntil } from "./support/served-process.ts";
import { startEmulatedWhatsApp } from "./support/whatsapp-channel.ts";

/** At how many places a bit of the backup is changed. */
const places = iterations(200, 2_000);

function flip(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(at) ^ (1 << (at % 8)), at);
  return changed;
}

function isSame(zipped: Buffer, content: Buffer): boolean {
  try {
    return gunzipSync(zipped).equals(content);
  } catch {
    return false;
  }
}

/** The settings that a restore adds. */
const held = { settings: "row.name in ('held_since_backup', 'restore_id')" };

describe("a service with made-up data", { timeout: 180_000 }, () => {
  let source: TestDatabase;
  let folder: Awaited<ReturnType<typeof createFolder>>;
  let backup: string;
  let plain: string;
  let rows: Awaited<ReturnType<typeof digestTables>>;

  beforeAll(async () => {
    source = await createTestDatabase();
    folder = await createFolder();
    backup = join(folder.path, "backup.age");
    plain = join(folder.path, "plain.tar.gz");
    const identity = await generateIdentity();
    await writeFile(join(folder.path, "identity"), `# A comment.\n${identity}\n`);
    const app = await startTestApp({ database: source, startsAt: new Date("2026-03-02T09:00:00.000Z") });
    await fill(app);
    await app[Symbol.asyncDispose]();
    rows = await digestTables(source.env);
    const args = ["backup", backup, "--recipient", await identityToRecipient(identity)];
    const report = await runJson(args, source.env);
    expect(report).toMatchObject({ encrypted: true, damaged_files: [], problems: [] });
    // One of the files is a folder.
    expect(report.missing_files).toEqual([expect.stringMatching(/^org_/)]);
    expect(report.rows).toBeGreaterThan(300);
    expect(report.files).toBeGreaterThan(0);
    expect(report.sealed_values).toBeGreaterThan(0);
    await runJson(["backup", plain, "--plain"], source.env);
  }, 180_000);

  afterAll(async () => {
    await source?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
  });

  const identity = () => ["--identity", join(folder.path, "identity")];

  test("has a backup that is encrypted, and verified without a database", async () => {
    expect((await readFile(backup)).toString("latin1", 0, 26)).toBe("age-encryption.org/v1\n-> X");
    const report = await runJson(["verify-backup", backup, ...identity()], {});
    expect(report).toMatchObject({ problems: [], schema: expect.stringMatching(/^\d{4}-/) });
    const withoutKey = await runCommand(["verify-backup", backup]);
    expect(withoutKey).toMatchObject({
      status: 2,
      stderr: "tidings: The backup is encrypted: give --identity or --passphrase-file.\n",
    });
  });

  // Not in the other tests: deriving a key from a passphrase takes seconds by design.
  test("is opened by its passphrase alone", async () => {
    const path = join(folder.path, "passphrase.age");
    const write = async (name: string, text: string) => {
      await writeFile(join(folder.path, name), text);
      return ["--passphrase-file", join(folder.path, name)];
    };
    const right = await write("right", "correct horse battery staple\n");
    expect(await runJson(["backup", path, ...right], source.env)).toMatchObject({ encrypted: true });
    expect(await runJson(["verify-backup", path, ...right], {})).toMatchObject({ problems: [] });
    const wrong = await runCommand(["verify-backup", path, ...(await write("wrong", "another passphrase"))]);
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining("can't be decrypted") });
  });

  test("is refused when it is damaged, or can't be opened, and nothing is restored", async () => {
    await using target = await createEmbeddedTarget();
    const whole = await readFile(backup);
    const archive = await readFile(plain);
    const damaged = {
      "cut.age": whole.subarray(0, whole.length - 100_000),
      "flipped.age": flip(whole, Math.floor(whole.length / 2)),
      "cut.tar.gz": archive.subarray(0, archive.length - 10_000),
      "flipped.tar.gz": flip(archive, Math.floor(archive.length / 2)),
      "other.txt": Buffer.from("It is a text."),
    };
    for (const [name, bytes] of Object.entries(damaged)) {
      const path = join(folder.path, name);
      await writeFile(path, bytes);
      const verified = await runCommand(["verify-backup", path, ...identity()]);
      expect([name, verified.status, verified.stderr]).toEqual([name, 1, expect.stringMatching(/damaged/)]);
    }
    const changedRow = join(folder.path, "changed-row.tar.gz");
    const content = gunzipSync(archive).toString("latin1").replaceAll("2026-03-02", "2026-93-02");
    await writeFile(changedRow, gzipSync(Buffer.from(content, "latin1")));
    expect(await runCommand(["restore", changedRow], target.env)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/is damaged: the database rejects its rows of \w+\. Use another copy/),
    });
    const cut = ["restore", join(folder.path, "cut.tar.gz")];
    expect(await runCommand(cut, target.env)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/damaged/),
    });
    await writeFile(join(folder.path, "other-identity"), await generateIdentity());
    const wrong = await runCommand(
      ["restore", backup, "--identity", join(folder.path, "other-identity")],
      target.env,
    );
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining("can't be decrypted") });
    const unnamed = await runCommand(["backup", join(folder.path, "new")], source.env);
    expect(unnamed).toMatchObject({ status: 2, stderr: expect.stringContaining("--plain") });
    const existing = await runCommand(["backup", backup, "--plain"], source.env);
    expect(existing).toMatchObject({ status: 2, stderr: expect.stringContaining("exists already") });
    const missing = await runCommand(["verify-backup", join(folder.path, "none")]);
    expect(missing).toMatchObject({ status: 2, stderr: expect.stringContaining("ENOENT") });
    expect(await readdir(target.env.TIDINGS_DATA_DIR ?? "")).not.toContain("database");
  });

  test("is never read as whole when a bit of it differs, and called damaged wherever that is", async () => {
    const archive = await readFile(plain);
    const content = gunzipSync(archive);
    const changed = join(folder.path, "changed.tar.gz");
    const secrets = { secret: undefined, previousSecret: undefined };
    for (let at = 0; at < archive.length; at += Math.ceil(archive.length / places)) {
      const bytes = flip(archive, at);
      await writeFile(changed, bytes);
      const read = async () => {
        const { manifest, entries } = await openArchive(openPlace(readConfig({}).config, changed), {});
        return await readBackup(manifest, entries, { secrets, file: changed });
      };
      // Some bits of gzip mean nothing: those of its header's time, and padding.
      if (isSame(bytes, content)) {
        expect(await read()).toMatchObject({ problems: [] });
      } else {
        await expect(read(), `byte ${at}`).rejects.toThrow(/damaged/);
      }
    }
  });

  const restore = async (target: RestoreTarget) => {
    await runJson(["restore", backup, ...identity()], target.env);
    const { settings, ...restored } = await digestTables(target.env, held);
    const { settings: stored, ...expected } = rows;
    expect(restored).toEqual(expected);
    expect(settings).toEqual(stored);
    const again = await runCommand(["restore", backup, ...identity()], target.env);
    expect(again.status).toBe(1);
    expect(again.stderr).toMatch(/has a database already|is in use: it has organizations/);
  };

  test("is restored to a new data folder with every row", async () => {
    await using target = await createEmbeddedTarget();
    await restore(target);
  });

  test("is restored to an empty database on PostgreSQL with every row", async ({ skip }) => {
    await using target = await createPostgresTarget();
    if (target === undefined) {
      return skip("There is no server.");
    }
    await restore(target);
  });
});

/** A cursor of before the restore is rejected, also by the stream; cursors of after it continue. */
async function expectCursorsOf(
  restored: TestApp,
  { before, since, message }: { readonly before: string; readonly since: string; readonly message: string },
) {
  await expect(
    restored.call(messages.wait_for_message, { after: message, timeout_seconds: 0 }),
  ).rejects.toMatchObject({
    code: "invalid_cursor",
    message: expect.stringContaining("of before this database was restored from a backup. Leave it out"),
  });
  const { meta: next } = await restored.call(messages.wait_for_message, { timeout_seconds: 0 });
  const waited = await restored.call(messages.wait_for_message, { after: next.cursor, timeout_seconds: 0 });
  expect(waited).toMatchObject({ data: [], meta: { is_timed_out: true } });

  await expect(restored.call(webhooks.list_events, { after: before })).rejects.toMatchObject({
    code: "invalid_cursor",
    message: expect.stringContaining("of before this database was restored from a backup"),
  });
  const { response } = await requestStream(restored, { lastId: before });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { code: "invalid_cursor" } },
  ]);

  const { data, meta } = await restored.call(webhooks.list_events, { since });
  expect((await restored.call(webhooks.list_events, { after: meta.cursor })).data).toEqual([]);
  await using stream = await openStream(restored, { lastId: meta.cursor });
  expect(stream.first).toMatchObject({ event: "open", id: expect.stringMatching(/~[\da-f]{12}$/) });
  expect(data).toEqual([]);
}

test("a restored service is held, and sends nothing again that waited when its backup was made", {
  timeout: 180_000,
}, async () => {
  await using source = await createTestDatabase();
  await using folder = await createFolder();
  await using target = await createTarget();
  const backup = join(folder.path, "backup.tar.gz");
  const { app, emulator, inbox, control, advance } = await startEmulatedWhatsApp({}, { database: source });
  const to = "+14155550123";
  await control("POST", "/inbound", { from: to, text: "Hello" });
  await emulator.idle();
  await advance(10_000);
  const session = await app.call(auth.login, { email: ownerEmail, password: ownerPassword });
  const text = { body: "It waits in the queue" };
  const { data: waiting } = await app.call(messages.send_message, {
    to,
    inbox_id: inbox.id,
    type: "text",
    text,
  });
  const { meta: before } = await app.call(webhooks.list_events, {});
  const { meta: read } = await app.call(messages.wait_for_message, { timeout_seconds: 0 });
  await app[Symbol.asyncDispose]();
  await runJson(["backup", backup, "--plain"], source.env);

  const env = { TIDINGS_WHATSAPP_BASE_URL: emulator.url, TIDINGS_PUBLIC_URL: "https://tidings.example" };
  const startsAt = new Date("2026-11-22T12:10:00.000Z");
  // The service that was backed up goes on, and sends the message.
  const original = await startTestApp({ database: source, env, startsAt });
  await original.runDueJobs();
  await original[Symbol.asyncDispose]();
  const countSent = async () => {
    const { data } = await control("GET", `/customers/${encodeURIComponent(to)}/messages`);
    return data.filter(({ direction }: { direction: string }) => direction === "outbound").length;
  };
  expect(await countSent()).toBe(1);

  await runJson(["restore", backup], target.env);
  const localKey = `sk_live_${"l".repeat(43)}`;
  const restored = await startTestApp({ database: target, env, startsAt, localKey, runsJobs: true });
  try {
    const held = await restored.fetch("/v1/contacts");
    expect(held.status).toBe(503);
    expect(await held.text()).toContain("held until its operator runs tidings release");
    expect((await restored.fetch("/readyz")).status).toBe(503);
    expect((await restored.fetch("/healthz")).status).toBe(200);

    const release = async (json: object) => {
      const answer = await restored.fetch("/data-folder/commands/release", {
        method: "POST",
        key: localKey,
        json,
      });
      return ((await answer.json()) as { data: object }).data;
    };
    const unknown_after_restore = { messages: [{ id: waiting.id }], broadcasts: [], flow_runs: [] };
    const preview = await release({});
    expect(preview).toMatchObject({ is_held: true, is_released: false, unknown_after_restore });
    expect((await restored.fetch("/v1/contacts")).status).toBe(503);
    expect(await release({ keys: ["key_none"] })).toMatchObject({
      is_released: false,
      unknown_keys: ["key_none"],
    });
    expect(await release({ keys: "all" })).toMatchObject({ is_released: true, unknown_after_restore });
    expect(await release({ keys: "all" })).toMatchObject({ is_held: false });

    // The delivery has found out that the channel can't say whether it received the message.
    const { queries } = restored.server.database;
    await waitUntil(async () => {
      const jobs = await queries.selectFrom("jobs").select("name").where("schedule", "is", null).execute();
      return jobs.some(({ name }) => name === "message.confirm");
    });
    expect(await countSent()).toBe(1);
    const { data: message } = await restored.call(messages.get_message, {
      conversation_id: waiting.conversation_id,
      message_id: waiting.id,
    });
    expect(message.status).toBe("queued");
    const refresh = { refresh_token: session.data.refresh_token };
    await expect(restored.call(auth.refresh, refresh)).rejects.toMatchObject({
      code: "refresh_token_invalid",
    });
    await expectCursorsOf(restored, {
      before: before.cursor,
      since: startsAt.toISOString(),
      message: read.cursor,
    });
  } finally {
    await restored[Symbol.asyncDispose]();
    await emulator[Symbol.asyncDispose]();
  }
});
