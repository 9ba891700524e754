/**
 * Pages of the database that can't be read: the service writes nothing more.
 * @module-tag both
 */
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { silentLog, startTestApp } from "./support/app.ts";
import { runCommand } from "./support/command.ts";
import { damageRelations } from "./support/damaged-database.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";

/** A database with a contact. */
async function createSource() {
  const source = await createTestDatabase();
  const app = await startTestApp({ database: source });
  await app.call(contacts.create_contact, { phone_number: "+14155550123" });
  await app[Symbol.asyncDispose]();
  return source;
}

test("after the first page that can't be read, the service writes nothing, runs no job, and is not ready", {
  timeout: 180_000,
}, async () => {
  await using source = await createSource();
  const database = await damageRelations(source, ["contacts"]);
  const errors: object[] = [];
  const log = { ...silentLog, error: (facts: object, message: string) => errors.push({ ...facts, message }) };
  await using app = await startTestApp({ database, log });
  const status = async (path: string, init = {}) => (await app.fetch(path, init)).status;
  const write = { method: "PUT", json: { name: "Renamed" } };
  expect(await status("/readyz")).toBe(200);
  expect(await status("/v1/organization", write)).toBe(200);

  const unreadable = await app.fetch("/v1/contacts");
  expect([unreadable.status, await unreadable.json()]).toEqual([
    503,
    { error: expect.objectContaining({ code: "database_damaged", type: "internal" }) },
  ]);
  expect(errors).toContainEqual({
    error: expect.stringMatching(/invalid page in block 0 of relation/),
    message: "The database is damaged, so this process writes nothing more: see docs/backup.md",
  });

  for (const [path, init] of [
    ["/readyz", {}],
    ["/v1/organization", write],
  ] as const) {
    const answer = await app.fetch(path, init);
    expect([path, answer.status, await answer.json()]).toEqual([
      path,
      503,
      { error: expect.objectContaining({ code: "database_damaged" }) },
    ]);
  }
  await app.advanceTime(0).then(
    () => expect.unreachable(),
    (error: unknown) => expect(error).toMatchObject({ name: "DamageError" }),
  );
  const organization = await app.fetch("/v1/organization");
  expect([organization.status, await organization.json()]).toMatchObject([
    200,
    { data: { name: "Renamed" } },
  ]);
  expect(await status("/healthz")).toBe(200);
});

/** The findings of `tidings doctor --deep` about pages. */
async function checkPages({ env }: TestDatabase) {
  const { stdout, status } = await runCommand(["doctor", "--deep", "--json"], { ...env, PORT: "0" });
  const findings: { readonly check: string }[] = JSON.parse(stdout);
  return { status, pages: findings.filter(({ check }) => check === "pages") };
}

test("tidings doctor --deep reads every page, and names a damaged table and damaged indexes", {
  timeout: 180_000,
}, async () => {
  await using source = await createSource();
  expect(await checkPages(source)).toEqual({
    status: 0,
    pages: [
      {
        check: "pages",
        status: "ok",
        message: expect.stringMatching(
          /^Every page of \d{2,} tables, \d{3,} indexes and \d{2,} system tables/,
        ),
      },
    ],
  });

  const database = await damageRelations(source, ["contacts", "contacts_search", "inboxes_pkey"]);
  const problem = (message: string, fix: string) => ({
    check: "pages",
    status: "problem",
    message: expect.stringMatching(message),
    fix: expect.stringContaining(fix),
  });
  expect(await checkPages(database)).toEqual({
    status: 1,
    pages: [
      problem(
        "^The table contacts is damaged: invalid page in block 0 of relation",
        "restore the last backup",
      ),
      problem("^The index contacts_search is damaged: invalid page in block 0 of relation", "a new backup"),
      problem("^The index inboxes_pkey is damaged: invalid page in block 0 of relation", "a new backup"),
    ],
  });
});
