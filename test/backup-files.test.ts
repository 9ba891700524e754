/** The files that a backup needs while it is made: the copy of an embedded database, and the draft. */
import { readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { writeArchive } from "../src/cli/manage/backup/archive/index.ts";
import { copyPrefix } from "../src/cli/manage/backup/copy-route.ts";
import { removeLeftovers } from "../src/cli/manage/backup/place/index.ts";
import { createEmbeddedTarget, createFolder } from "./support/backups.ts";
import { runJson } from "./support/command.ts";
import { openProcesses, waitUntil } from "./support/served-process.ts";

test("a running service is backed up whose data folder is reached by a symbolic link", {
  timeout: 120_000,
}, async () => {
  await using folder = await createFolder();
  await using source = await createEmbeddedTarget();
  const { TIDINGS_DATA_DIR: dataDir = "" } = source.env;
  const link = join(folder.path, "link");
  await symlink(dataDir, link);
  const env = { TIDINGS_DATA_DIR: link };
  await using processes = await openProcesses({ ...source, env });
  await processes.serve();
  const backup = join(folder.path, "backup.tar.gz");
  expect(await runJson(["backup", backup, "--plain"], env)).toMatchObject({ problems: [] });
  expect((await readdir(dataDir)).filter((name) => name.startsWith(copyPrefix))).toEqual([]);
});

test("of two backups to the same file one is written, and the other fails", async () => {
  await using folder = await createFolder();
  const path = join(folder.path, "backup.tar.gz");
  let opened = 0;
  const write = (text: string) =>
    writeArchive({ path, encrypt: undefined }, async (archive) => {
      await archive.addText("before", text.repeat(100_000));
      opened += 1;
      await waitUntil(() => opened === 2);
      await archive.addText("after", text.repeat(100_000));
      return text;
    });
  const outcomes = await Promise.allSettled([write("one"), write("two")]);
  const written = outcomes.filter((outcome) => outcome.status === "fulfilled").map(({ value }) => value);
  const errors = outcomes
    .filter((outcome) => outcome.status === "rejected")
    .map(({ reason }) => String(reason));
  expect(errors).toEqual([`CommandError: The backup can't be moved to ${path} (EEXIST).`]);
  expect(written).toHaveLength(1);
  const [text = ""] = written;
  const content = gunzipSync(await readFile(path)).toString();
  expect(content.split(text.repeat(100_000))).toHaveLength(3);
  expect(await readdir(folder.path)).toEqual(["backup.tar.gz"]);
});

test("what a killed backup left is removed after a day", async () => {
  await using folder = await createFolder();
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  for (const name of ["old.part", "new.part", "old.json"]) {
    await writeFile(join(folder.path, name), "");
  }
  for (const name of ["old.part", "old.json"]) {
    await utimes(join(folder.path, name), yesterday, yesterday);
  }
  await removeLeftovers(folder.path, (name) => name.endsWith(".part"));
  expect((await readdir(folder.path)).sort()).toEqual(["new.part", "old.json"]);
});
