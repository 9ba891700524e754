/** Cohorts of a CSV file: which lines are added, which are rejected and why, and recovery after a crash. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { uploads } from "../tools/uploads.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { startReceiver } from "./support/receiver.ts";

const app = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_SOURCES: "true" } });
const known = "+14155550110";

async function upload(text: string, key?: string): Promise<string> {
  const content_base64 = Buffer.from(text).toString("base64");
  const { data } = await app.call(
    uploads.upload_file,
    { content_base64, file_name: "people.csv" },
    key ? { key } : {},
  );
  return data.id;
}

const create = async (upload_id: string, key?: string) =>
  (
    await app.call(
      cohorts.create_cohort,
      { name: "File", type: "csv", query: {}, upload_id },
      key ? { key } : {},
    )
  ).data;

async function build(text: string, key?: string) {
  const { id } = await create(await upload(text, key), key);
  await app.runDueJobs();
  return (await app.call(cohorts.get_cohort, { id })).data;
}

const membersOf = async (id: string) =>
  (await app.call(cohorts.list_cohort_members, { id })).data.map(({ phone_number }) => phone_number).sort();

test("the contacts of the lines become members once; new ones are created and known ones keep their fields", async () => {
  const known = "+14155550112";
  const { data: contact } = await app.call(contacts.create_contact, { phone_number: known, name: "Ann" });
  await app.call(contacts.update_contact, { id: contact.id, opted_out: true });
  const cohort = await build(
    `Phone,Name,City\n${known},Other,Oslo\n+1 (415) 555-0111,Bob,Rome\n${known},,\n`,
  );
  expect(cohort).toMatchObject({
    type: "csv",
    status: "ready",
    contact_count: 2,
    lines_read: 3,
    lines_rejected: 0,
    query: {},
  });
  expect(await membersOf(cohort.id)).toEqual(["+14155550111", known]);
  const { data } = await app.call(contacts.get_contact, { id: contact.id });
  expect(data).toMatchObject({ name: "Ann", metadata: {}, opted_out: true });
  const [bob] = (await app.call(contacts.list_contacts, { search: "+14155550111" })).data;
  expect((await app.call(contacts.get_contact, { id: bob?.id ?? "" })).data).toMatchObject({
    name: "Bob",
    metadata: {},
    opted_out: false,
  });
});

test("the file is deleted when the cohort is built", async () => {
  const upload_id = await upload(`phone\n${known}\n`);
  const { id } = await create(upload_id);
  expect((await app.call(cohorts.get_cohort, { id })).data.status).toBe("building");
  await app.runDueJobs();
  expect((await app.call(cohorts.get_cohort, { id })).data.status).toBe("ready");
  expect(await expectFailure(app.call(uploads.get_upload, { id: upload_id }))).toMatchObject({ status: 404 });
});

test("rejected lines are reported without their numbers", async () => {
  const cohort = await build(`phone\n12345\n\n"4,9E+12"\n6502530011\n${known}\n`);
  expect(cohort).toMatchObject({ status: "ready", contact_count: 1, lines_read: 4, lines_rejected: 3 });
  expect(cohort.errors.map(({ line }) => line)).toEqual([2, 4, 5]);
  expect(cohort.errors.map(({ reason }) => reason.slice(0, 60))).toEqual([
    "The phone number is not valid. It has no + with a country co",
    "The phone number was written as a quantity, like 4.9E+12 or ",
    "The phone number is not valid. It has no + with a country co",
  ]);
  expect(JSON.stringify(cohort.errors)).not.toMatch(/2530011|import/);
});

test("without contacts:write, unknown numbers are rejected", async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "planner", scopes: ["broadcasts:create"] });
  const cohort = await build(`phone\n${known}\n+14155550119\n`, data.secret_key);
  expect(cohort).toMatchObject({ contact_count: 1, lines_rejected: 1 });
  expect(cohort.errors[0]).toMatchObject({ line: 3, reason: expect.stringContaining("contacts:write") });
  expect((await app.call(contacts.list_contacts, { search: "+14155550119" })).data).toEqual([]);
});

test.each<[string, string, string]>([
  ["without a column of numbers", "name,city\nAnn,Oslo\n", "There is no column named phone_number"],
  ["that is empty", "\n", "The file is empty"],
  ["with a quotation mark that is not closed", `phone,name\n${known},"x\n`, "a quotation mark is not closed"],
])("a file %s fails, and says why", async (_, text, failure) => {
  const cohort = await build(text);
  expect(cohort.status).toBe("failed");
  expect(cohort.failure).toContain(failure);
  expect(cohort.failure).toMatch(/ Then create the cohort again\.$/);
  expect(cohort.failure).not.toContain("import");
});

test("formulas, zero bytes and long cells of a hostile file are harmless", async () => {
  const cohort = await build(
    `phone,name\n=cmd|'/C calc'!A0,x\n${known},"${"x".repeat(300)}"\n+14155550117,=1+1\n`,
  );
  expect(cohort).toMatchObject({ status: "ready", contact_count: 1, lines_rejected: 2 });
});

test("a build that was cut off continues after the last committed line", async () => {
  const numbers = Array.from({ length: 60 }, (_, index) => `+1415555${2000 + index}`);
  const { id } = await create(await upload(`phone\n${numbers.join("\n")}\n`));
  const { queries } = app.server.database;
  // As a process that died after a batch leaves it.
  await queries.updateTable("cohorts").set({ position: 40 }).where("id", "=", id).execute();
  await app.runDueJobs();
  expect((await app.call(cohorts.get_cohort, { id })).data).toMatchObject({
    status: "ready",
    lines_read: 60,
    contact_count: 20,
  });
});

test("a cohort that is deleted before it is built leaves no file", async () => {
  const upload_id = await upload(`phone\n${known}\n`);
  const { id } = await create(upload_id);
  await app.call(cohorts.delete_cohort, { id });
  await app.runDueJobs();
  expect(await expectFailure(app.call(uploads.get_upload, { id: upload_id }))).toMatchObject({ status: 404 });
});

test("a cohort that is deleted during the download of its file leaves no file", async () => {
  let remove: () => Promise<unknown> = async () => undefined;
  await using source = await startReceiver(async (_, response) => {
    await remove();
    response.writeHead(200, { "content-type": "text/csv" }).end(`phone\n${known}\n`);
  });
  const csv_url = `http://127.0.0.1:${source.port}/people.csv`;
  const { data } = await app.call(cohorts.create_cohort, { name: "File", type: "csv", query: {}, csv_url });
  remove = () => app.call(cohorts.delete_cohort, { id: data.id });
  const listed = (await app.call(uploads.list_uploads, {})).meta.total;
  await app.runDueJobs();
  expect(source.requests).toBe(1);
  expect((await app.call(uploads.list_uploads, {})).meta.total).toBe(listed);
});

test("an erased contact is no longer a member", async () => {
  const number = "+14155550131";
  const { id } = await build(`phone\n${number}\n${known}\n`);
  const [contact] = (await app.call(contacts.list_contacts, { search: number })).data;
  await app.call(contacts.delete_contact, { id: contact?.id ?? "" });
  expect(await membersOf(id)).toEqual([known]);
  const rows = await app.server.database.queries
    .selectFrom("cohort_members")
    .select("contact_id")
    .where("cohort_id", "=", id)
    .execute();
  expect(rows).toHaveLength(1);
});

test("a csv cohort has no query to change", async () => {
  const { id } = await build(`phone\n${known}\n`);
  const change = app.call(cohorts.update_cohort, { id, query: {} });
  expect(await expectFailure(change)).toMatchObject({ status: 422, code: "cohort_has_file" });
  expect((await app.call(cohorts.update_cohort, { id, name: "Renamed" })).data).toMatchObject({
    name: "Renamed",
    contact_count: 1,
  });
});
