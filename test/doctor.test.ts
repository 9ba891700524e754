/** `tidings doctor` without a running service: the settings, the data folder and the connections. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder } from "./support/backups.ts";
import { runCommand } from "./support/command.ts";
import { createTestDatabase } from "./support/database.ts";
import { connectTo, runOnServer, serverUrl } from "./support/postgres.ts";

test("a tool that does not exist is a problem of the settings", async () => {
  const { status, stdout } = await runCommand(["doctor"], { TIDINGS_TOOLS_ALLOW: "no_such_tool" });
  expect([status, stdout]).toEqual([
    1,
    expect.stringMatching(/^problem +setting +TIDINGS_TOOLS_ALLOW has an unknown name: no_such_tool\.$/m),
  ]);
});

test("a missing data folder stays missing", async () => {
  await using folder = await createFolder();
  const path = join(folder.path, "none", "data");
  const env = { DATABASE_URL: "", TIDINGS_DATA_DIR: path, PORT: "0" };
  const { status, stdout } = await runCommand(["doctor"], env);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^ok +disk +[\d,]+ MB are free for /m);
  expect(stdout).toContain(`No service was started in ${path} yet.`);
  expect(stdout).toMatch(/^warning +service +No service answers at /m);
  expect(existsSync(join(folder.path, "none"))).toBe(false);
});

test.skipIf(serverUrl === undefined)("connections of other users are counted", async ({ skip }) => {
  await using created = await createTestDatabase();
  const url = new URL(created.env.DATABASE_URL ?? "");
  await using admin = await connectTo(url.href);
  const [own] = await admin.query("select rolsuper from pg_roles where rolname = current_user");
  if (own?.rolsuper !== true) {
    return skip("The role of the tests may create no other one.");
  }
  await using _another = await connectTo(url.href);
  const role = `tidings_doctor_${randomBytes(6).toString("hex")}`;
  await admin.query(`create role ${role} login password 'secret'`);
  try {
    await admin.query(`grant select on all tables in schema public to ${role}`);
    url.username = role;
    url.password = "secret";
    const { stdout } = await runCommand(["doctor"], { ...created.env, DATABASE_URL: url.href, PORT: "0" });
    const [, used] = /^\w+ +connections +(\d+) of \d+ connections are in use/m.exec(stdout) ?? [];
    // The two above, and that of the doctor.
    expect(Number(used)).toBeGreaterThanOrEqual(3);
  } finally {
    await admin.query(`drop owned by ${role}`);
    await runOnServer(serverUrl ?? "", `drop role ${role}`);
  }
});
