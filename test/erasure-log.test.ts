/** The log of erasures outside of the database: what is written to it, and how a release repeats it. */
import { execFile } from "node:child_process";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readErasureLog } from "../src/adapters/storage/index.ts";
import { checkUnloggedErasures } from "../src/cli/doctor/erasures.ts";
import type { Log } from "../src/ports/telemetry/log.ts";
import { contacts } from "../tools/contacts.ts";
import { silentLog, startTestApp, type TestApp } from "./support/app.ts";
import { createFolder, createTarget } from "./support/backups.ts";
import { runCommand, runJson } from "./support/command.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { findColumns } from "./support/find-columns.ts";
import { openPhone } from "./support/simulator.ts";

const number = "+14155550124";
const personal = [number, number.slice(1), "zq7marker"];
const hour = 3_600_000;

async function createContact(app: TestApp, phone_number: string, name = "Ada"): Promise<string> {
  return (await app.call(contacts.create_contact, { phone_number, name })).data.id;
}

async function erase(app: TestApp, id: string): Promise<void> {
  await app.call(contacts.delete_contact, { id });
  await app.runDueJobs();
}

/** The lines without their times. */
async function readKinds(log: string): Promise<unknown[]> {
  const lines = (await readFile(log, "utf8")).trim().split("\n");
  return lines.map((line) => {
    const { kind, id } = JSON.parse(line);
    return id === undefined ? kind : [kind, id];
  });
}

/**
 * A backup of a service with two persons. One of them is erased after the backup, and so is a person who came
 * after it.
 */
async function backUpAndErase(source: TestDatabase, folder: string) {
  const log = join(folder, "erasures.log");
  const backup = join(folder, "backup.tar.gz");
  const env = { TIDINGS_ERASURE_LOG: log };
  const app = await startTestApp({ database: source, env });
  const id = await createContact(app, number, "Ada zq7marker");
  const { conversation_id } = await openPhone(app, number).write("zq7marker, hello");
  const other = await createContact(app, "+14155550125", "Grace");
  const early = await createContact(app, "+14155550126", "Eve");
  await app.runDueJobs();
  await erase(app, early);
  await app[Symbol.asyncDispose]();
  await runJson(["backup", backup, "--plain"], source.env);

  const later = await startTestApp({ database: source, env });
  await erase(later, id);
  const unknown = await createContact(later, "+14155550127", "Ida");
  await erase(later, unknown);
  await later[Symbol.asyncDispose]();
  return { log, backup, id, other, early, unknown, conversation_id };
}

describe("a restored service", { timeout: 300_000 }, () => {
  let source: TestDatabase;
  let folder: Awaited<ReturnType<typeof createFolder>>;
  let made: Awaited<ReturnType<typeof backUpAndErase>>;
  let whole: string;

  beforeAll(async () => {
    source = await createTestDatabase();
    folder = await createFolder();
    made = await backUpAndErase(source, folder.path);
    whole = await readFile(made.log, "utf8");
  }, 300_000);

  afterAll(async () => {
    await source?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
  });

  test("was backed up, and its log has the erasures and no personal data", async () => {
    expect(await readKinds(made.log)).toEqual([
      "begin",
      ["contact", made.early],
      ["contact", made.id],
      ["contact", made.unknown],
    ]);
    expect(whole).not.toMatch(/4155550|marker|Ada|Ida|Eve/);
  });

  test("has nothing of a person who was erased after its backup", async () => {
    await using target = await createTarget();
    const log = join(target.env.TIDINGS_DATA_DIR ?? "", "copy.log");
    await writeFile(log, whole);
    const env = { ...target.env, TIDINGS_ERASURE_LOG: log };
    expect(await runJson(["restore", made.backup], env)).toMatchObject({
      erasures: `repeated by tidings release, from ${log}`,
    });
    const counts = { log, repeated: 1, already_erased: 1, unknown: 1, warning: null };
    expect(await runJson(["release"], env)).toMatchObject({ is_released: false, erasures: counts });
    const released = { is_released: true, erasures: counts };
    expect(await runJson(["release", "--keys", "all"], env)).toMatchObject(released);

    const restored = await startTestApp({ database: target, env });
    try {
      await expect(restored.call(contacts.get_contact, { id: made.id })).rejects.toMatchObject({
        code: "contact_not_found",
      });
      await restored.runDueJobs();
      expect(await findColumns(restored.server.database.queries, personal)).toEqual([]);
      expect((await restored.call(contacts.get_contact, { id: made.other })).data.name).toBe("Grace");
      // The erasure is in the log of the new service too, which may be another one.
      expect((await readKinds(log)).at(-1)).toEqual(["contact", made.id]);
    } finally {
      await restored[Symbol.asyncDispose]();
    }
  });

  test("is not released by a log that is missing or cut off, and says so without one", async () => {
    await using target = await createTarget();
    const log = join(folder.path, "damaged.log");
    const release = (...args: string[]) => runCommand(["release", "--keys", "all", ...args], target.env);
    const moved = join(folder.path, "moved.log");
    await runJson(["restore", made.backup], target.env);
    // Held, it does not begin a log, which would look as if nothing had been erased.
    const held = await startTestApp({ database: target, env: { TIDINGS_ERASURE_LOG: moved } });
    await held[Symbol.asyncDispose]();
    expect(await release("--erasures", moved)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`There is no log of erasures at ${moved}. Copy the log`),
    });
    await writeFile(log, whole.slice(0, -20));
    expect(await release("--erasures", log)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`Line 4 of ${log} is no erasure: it was cut off or changed.`),
    });
    // The line that was cut off is written again, and the log begins after the backup.
    const lines = whole.trim().split("\n").slice(1);
    const begin = JSON.stringify({ kind: "begin", at: "2099-01-01T00:00:00.000Z" });
    await writeFile(log, [begin, lines[1]?.slice(0, 40), ...lines, ""].join("\n"));
    const { erasures } = await runJson(["release", "--erasures", log], target.env);
    expect(erasures).toMatchObject({
      repeated: 1,
      warning: expect.stringContaining(`${log} begins at 2099-01-01T00:00:00.000Z, and the backup was made`),
    });
    const withoutLog = /^Warning: No log of erasures was given: contacts that were erased.*\n\nReleased\./;
    expect(await release()).toMatchObject({ status: 0, stdout: expect.stringMatching(withoutLog) });
  });
});

describe("the log of erasures", () => {
  test("has an erasure whose process died between the commit and the log, or after it", async () => {
    await using source = await createTestDatabase();
    await using folder = await createFolder();
    const log = join(folder.path, "erasures.log");
    const options = { database: source, env: { TIDINGS_ERASURE_LOG: log } };
    const first = await startTestApp(options);
    const id = await createContact(first, number);
    await first.call(contacts.delete_contact, { id });
    await first[Symbol.asyncDispose]();
    const second = await startTestApp(options);
    await second.runDueJobs();
    const once = ["begin", ["contact", id]];
    expect(await readKinds(log)).toEqual(once);
    await second.runDueJobs();
    expect(await readKinds(log)).toEqual(once);
    await second[Symbol.asyncDispose]();
  });

  test("may be away: the erasure succeeds, and is in the log when it can be written", async () => {
    await using source = await createTestDatabase();
    await using folder = await createFolder();
    const mount = join(folder.path, "mount");
    const log = join(mount, "erasures.log");
    const written: string[] = [];
    const note = (_: object, message: string) => written.push(message);
    const noting: Log = { ...silentLog, warn: note, error: note };
    const settings = { TIDINGS_ERASURE_LOG: log };
    await using app = await startTestApp({ database: source, env: settings, log: noting });
    const id = await createContact(app, number);
    await erase(app, id);
    // On the embedded engine the start has a warning of its own.
    const failed = ["The log of erasures can't be written", "A job failed and will be retried"];
    expect(written).toEqual(expect.arrayContaining(failed));
    const { queries } = app.server.database;
    expect(await findColumns(queries, personal)).toEqual([]);
    expect(await checkUnloggedErasures(queries)).toMatchObject([
      {
        check: "erasure_log",
        status: "warning",
        message: expect.stringMatching(/^1 erasure is not in the log/),
      },
    ]);
    const doctor = async () => {
      const { stdout } = await runCommand(["doctor", "--json"], settings);
      const findings = JSON.parse(stdout) as { check: string; status: string; message: string }[];
      return findings.filter(({ check }) => check === "erasure_log");
    };
    expect(await doctor()).toMatchObject([
      { status: "problem", message: expect.stringMatching(/^The log of erasures can't be written: ENOENT/) },
    ]);
    // Longer than any wait between two attempts, of which there may be more than of any other job.
    for (let attempt = 0; attempt < 20; attempt += 1) {
      await app.advanceTime(2 * hour);
    }
    await mkdir(mount);
    await app.advanceTime(2 * hour);
    expect(await readKinds(log)).toEqual(["begin", ["contact", id]]);
    expect(await checkUnloggedErasures(queries)).toEqual([]);
    expect(await doctor()).toEqual([
      { check: "erasure_log", status: "ok", message: `The log of erasures, ${log}, can be written.` },
    ]);
  });

  test("is written while the organization is suspended, and not without the setting", async () => {
    await using folder = await createFolder();
    const log = join(folder.path, "erasures.log");
    await using app = await startTestApp({ env: { TIDINGS_ERASURE_LOG: log } });
    const id = await createContact(app, number);
    await app.call(contacts.delete_contact, { id });
    const { queries } = app.server.database;
    await queries.updateTable("organizations").set({ suspended_at: app.now().toISOString() }).execute();
    await app.runDueJobs();
    expect(await readKinds(log)).toEqual(["begin", ["contact", id]]);
    await using other = await startTestApp();
    await erase(other, await createContact(other, number));
    const waiting = await other.server.database.queries
      .selectFrom("jobs")
      .select("name")
      .where("name", "=", "erasure.record")
      .execute();
    expect(waiting).toEqual([]);
  });

  test("has every line of two processes, also after one that was cut off", async () => {
    await using folder = await createFolder();
    const log = join(folder.path, "erasures.log");
    const count = 100;
    const append = (name: string) =>
      promisify(execFile)(process.execPath, [
        "--import",
        "tsx",
        "--input-type=module",
        "--eval",
        `
          import { openErasureLog } from "./src/adapters/storage/index.ts";
          const log = openErasureLog({
            erasureLog: ${JSON.stringify(log)}, backupMadeAt: "held", now: () => new Date(), log: console,
          });
          for (let number = 0; number < ${count}; number += 1) {
            const at = new Date().toISOString();
            await log.append({ kind: "contact", organization_id: "org_1", id: "con_${name}" + number, at });
          }
        `,
      ]);
    await Promise.all([append("a"), append("b")]);
    const read = await readErasureLog(log);
    expect(read?.unreadable).toEqual([]);
    expect(new Set(read?.erasures.map(({ id }) => id)).size).toBe(2 * count);

    await appendFile(log, '{"kind":"contact","organization_id":"org_1","id":"con_c');
    expect((await readErasureLog(log))?.unreadable).toEqual([expect.any(Number)]);
    await append("c");
    const again = await readErasureLog(log);
    expect(again?.unreadable).toEqual([]);
    expect(new Set(again?.erasures.map(({ id }) => id)).size).toBe(3 * count);
  });
});
