/** Damaged folders of the embedded database: each damage is named, with the way back. */
import { copyFile, cp, readdir, rename, rm, rmdir, truncate, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../src/database/connect.ts";
import { silentLog } from "./support/app.ts";
import { createFolder } from "./support/backups.ts";
import { runCommand } from "./support/command.ts";

type Damage = (database: string) => Promise<unknown>;

/** What is done to the folder, and what the error says. */
const damages: Readonly<Record<string, readonly [Damage, string]>> = {
  "a missing version": [(folder) => rm(join(folder, "PG_VERSION")), "The file PG_VERSION is missing."],
  "another version": [
    (folder) => writeFile(join(folder, "PG_VERSION"), "17\n"),
    'It has the version "17", and this version of Tidings reads 18.',
  ],
  "a version that is no number": [
    (folder) => writeFile(join(folder, "PG_VERSION"), Buffer.alloc(3)),
    'It has the version "\\u0000\\u0000\\u0000", and this version of Tidings reads 18.',
  ],
  "a missing log": [
    (folder) => rm(join(folder, "pg_wal"), { recursive: true }),
    "The folder pg_wal is missing.",
  ],
  "missing tables": [
    (folder) => rename(join(folder, "base"), join(folder, "old")),
    "The folder base is missing.",
  ],
  "missing states of transactions": [
    (folder) => rm(join(folder, "pg_xact"), { recursive: true }),
    "The folder pg_xact is missing.",
  ],
  "a missing control file": [
    (folder) => rm(join(folder, "global/pg_control")),
    "The file global/pg_control is missing.",
  ],
  "missing settings": [
    (folder) => rm(join(folder, "postgresql.conf")),
    "The file postgresql.conf is missing.",
  ],
  "missing rules of access": [
    (folder) => rm(join(folder, "pg_hba.conf")),
    "The file pg_hba.conf is missing.",
  ],
  "a cut control file": [
    (folder) => truncate(join(folder, "global/pg_control"), 4_096),
    "The file global/pg_control has 4096 bytes and should have 8192.",
  ],
  "a cut map of tables": [
    (folder) => truncate(join(folder, "global/pg_filenode.map"), 0),
    "The file global/pg_filenode.map has 0 bytes and should have 524.",
  ],
};

const advice = "Move the folder away and restore a backup (docs/backup.md), or set another data folder.";

const open = (dataDir: string) => openDatabase({ url: undefined, dataDir, log: silentLog });

test("each damage of the files is found at the start and by the doctor, and undoing it opens the database", async () => {
  await using folder = await createFolder();
  const database = join(folder.path, "database");
  await (await open(folder.path))[Symbol.asyncDispose]();
  for (const [name, [damage, message]] of Object.entries(damages)) {
    await using damaged = await createFolder();
    const copy = join(damaged.path, "database");
    await cp(database, copy, { recursive: true });
    await damage(copy);
    await expect(open(damaged.path), name).rejects.toThrow(
      `The database in ${copy} is damaged. ${message} ${advice}`,
    );
    const doctor = await runCommand(["doctor"], { TIDINGS_DATA_DIR: damaged.path, PORT: "0" });
    expect([name, doctor.stdout]).toEqual([name, expect.stringContaining(message)]);
    expect(doctor.status).toBe(1);
  }
  await (await open(folder.path))[Symbol.asyncDispose]();
}, 180_000);

test("a copy without the empty folders opens", async () => {
  await using folder = await createFolder();
  await (await open(folder.path))[Symbol.asyncDispose]();
  const database = join(folder.path, "database");
  const folders = (await readdir(database, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  );
  const empty: string[] = [];
  for (const { parentPath, name } of folders) {
    const path = join(parentPath, name);
    if ((await readdir(path)).length === 0) {
      empty.push(relative(database, path));
      await rmdir(path);
    }
  }
  expect(empty).toEqual(expect.arrayContaining(["pg_commit_ts", "pg_notify", "pg_replslot", "pg_twophase"]));
  await (await open(folder.path))[Symbol.asyncDispose]();
}, 180_000);

test("a control file with wrong content does not start, and the error has the way back", async () => {
  await using folder = await createFolder();
  await (await open(folder.path))[Symbol.asyncDispose]();
  const control = join(folder.path, "database/global/pg_control");
  await copyFile(control, `${control}.kept`);
  await writeFile(control, Buffer.alloc(8_192));
  await expect(open(folder.path)).rejects.toThrow(`It is damaged, or another version wrote it. ${advice}`);
  await rename(`${control}.kept`, control);
  await (await open(folder.path))[Symbol.asyncDispose]();
}, 180_000);
