/** Imports: which rows become contacts, which are rejected and why, and recovery after a crash. */
import { beforeAll, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { imports } from "../tools/imports.ts";
import { uploads } from "../tools/uploads.ts";
import { useTestApp } from "./support/app.ts";
import { createOtherTenant, type OtherTenant } from "./support/other-tenant.ts";

const app = useTestApp();
let other: OtherTenant;
beforeAll(async () => {
  other = await createOtherTenant(app);
});

async function upload(text: string): Promise<string> {
  const content_base64 = Buffer.from(text).toString("base64");
  const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "people.csv" });
  return data.id;
}

async function finish(id: string) {
  await app.runDueJobs();
  return (await app.call(imports.get_import, { id })).data;
}

async function importText(text: string) {
  const { data } = await app.call(imports.import_contacts, { upload_id: await upload(text) });
  return finish(data.id);
}

async function find(phone: string) {
  const { data } = await app.call(contacts.list_contacts, { search: phone });
  const [contact] = data;
  return contact && (await app.call(contacts.get_contact, { id: contact.id })).data;
}

test("columns become a contact's number, name, tags and attributes, all as text", async () => {
  const report = await importText(
    '\ufeffPhone,Name,Tags,City,Note\r\n+1 415 555 0110,Ann,"vip; new|old",Köln,=1+1\r\n+14155550111,,,"a ""b"", c",@SUM(A1)\r\n',
  );
  expect(report).toMatchObject({ status: "done", total: 2, created: 2, updated: 0, rejected: 0, errors: [] });
  expect(await find("+14155550110")).toMatchObject({
    name: "Ann",
    tags: ["vip", "new", "old"],
    metadata: { City: "Köln", Note: "=1+1" },
  });
  expect(await find("+14155550111")).toMatchObject({
    name: null,
    metadata: { City: 'a "b", c', Note: "@SUM(A1)" },
  });
});

test("an attribute whose title has a dot can be used in conditions", async () => {
  await importText("phone,Kd.Nr,address.city\n+14155550113,7,Oslo\n");
  expect(await find("+14155550113")).toMatchObject({ metadata: { Kd_Nr: "7", address_city: "Oslo" } });
  const query = { attribute: "metadata.address_city", operator: "eq", value: "Oslo" };
  expect((await app.call(cohorts.preview_cohort, { query })).data.contact_count).toBe(1);
  // A name that has a dot nevertheless is not listed.
  await app.call(contacts.create_contact, { phone_number: "+14155550114", metadata: { "Kd.Nr": 8 } });
  const { metadata_attributes } = (await app.call(cohorts.describe_attributes, {})).data;
  const listed = metadata_attributes.map(({ attribute }) => attribute);
  expect(listed).toContain("metadata.Kd_Nr");
  expect(listed).not.toContain("metadata.Kd.Nr");
});

test("a known contact keeps the values that the file does not name", async () => {
  await importText("phone,name,tags,city,age\n+14155550120,Bob,vip,Oslo,40\n");
  const report = await importText("phone_number;tags;city\n+14155550120;new;Bergen\n");
  expect(report).toMatchObject({ created: 0, updated: 1 });
  expect(await find("+14155550120")).toMatchObject({
    name: "Bob",
    tags: ["vip", "new"],
    metadata: { city: "Bergen", age: "40" },
  });
});

test("a rejected row is reported with its line, and the others are imported", async () => {
  const report = await importText(
    [
      "phone,name,note",
      "+14155550130,Ann,",
      "12,Bob,",
      ",Cid,",
      `+14155550131,${"x".repeat(256)},`,
      `+14155550132,Dan,${"x".repeat(20_000)}`,
      "+14155550133,Eve,a,b",
      "",
      "+14155550134,Fay,",
    ].join("\n"),
  );
  expect(report).toMatchObject({ status: "done", total: 7, created: 2, rejected: 5 });
  expect(report.errors.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7]);
  expect(report.errors.map(({ reason }) => reason).join()).toMatch(
    /not valid.*no phone.*name.*attributes.*cells/s,
  );
});

test("at most 1,000 rejected lines are reported", async () => {
  const report = await importText(`phone\n${"1\n".repeat(1_200)}`);
  expect(report).toMatchObject({ status: "done", total: 1_200, rejected: 1_200 });
  expect(report.errors).toHaveLength(1_000);
});

test.each([
  ["no phone column", "name,city\nAnn,Oslo\n", "no column named phone_number"],
  [
    "a quotation mark that is never closed",
    `phone,name\n+14155550140,"${"x\n".repeat(80_000)}`,
    "quotation mark",
  ],
])("%s fails the import with its reason", async (_, text, reason) => {
  const report = await importText(text);
  expect(report).toMatchObject({ status: "failed", created: 0, failure: expect.stringContaining(reason) });
});

test("an interrupted import continues after its last batch", { tags: "both" }, async () => {
  const text = Array.from({ length: 500 }, (_, index) => `+1415556${String(index).padStart(4, "0")}`);
  const { data } = await app.call(imports.import_contacts, {
    upload_id: await upload(`phone\n${text.join("\n")}\n`),
  });
  // The state after the first batch's commit.
  await app.server.database.queries
    .updateTable("imports")
    .set({ status: "running", position: 200, created: 200 })
    .where("id", "=", data.id)
    .execute();
  expect(await finish(data.id)).toMatchObject({ status: "done", total: 500, created: 500 });
  expect(await find("+14155560199")).toBeUndefined();
  expect(await find("+14155560200")).toMatchObject({ phone_number: "+14155560200" });
  expect(await find("+14155560499")).toMatchObject({ phone_number: "+14155560499" });
});

test("the rows before an unreadable line are imported", async () => {
  const report = await importText(`phone,name\n+14155550160,Ann\n+14155550161,"${"x\n".repeat(80_000)}`);
  expect(report).toMatchObject({ status: "failed", total: 1, created: 1 });
  expect(await find("+14155550160")).toMatchObject({ name: "Ann" });
});

test("another tenant's upload, or one that is not CSV, is rejected", async () => {
  const theirs = app.call(imports.import_contacts, { upload_id: other.upload_id });
  await expect(theirs).rejects.toMatchObject({ status: 404, code: "upload_not_found" });
  const content_base64 = Buffer.from("hello").toString("base64");
  const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "a.txt" });
  const text = app.call(imports.import_contacts, { upload_id: data.id });
  await expect(text).rejects.toMatchObject({ status: 422, code: "not_a_csv_file" });
  const none = app.call(imports.import_contacts, {});
  await expect(none).rejects.toMatchObject({ status: 400, code: "one_source_needed" });
});

test("of two rows with the same number the second updates the first, in any spelling", {
  tags: "both",
}, async () => {
  const report = await importText(
    "phone,name,tags,city\n+5511912345670,Ann,vip,Oslo\n+551112345670,Bea,,\n+55 11 91234-5670,Eve,VIP;new,Bergen\n",
  );
  expect(report).toMatchObject({ created: 2, updated: 1 });
  expect(await find("+5511912345670")).toMatchObject({
    name: "Eve",
    tags: ["vip", "new"],
    metadata: { city: "Bergen" },
  });
});

test("an import without changes does not update the contact", async () => {
  const text = "phone,name,tags,city\n+14155550170,Ann,vip,Oslo\n";
  await importText(text);
  const before = await find("+14155550170");
  await app.advanceTime(60_000);
  expect(await importText(text)).toMatchObject({ created: 0, updated: 1 });
  expect(await find("+14155550170")).toEqual(before);
});

test("an imported tag is normalized like any other tag", async () => {
  await importText("phone,tags\n+14155550171,Imported;IMPORTED | Läufer\n");
  const { data } = await app.call(contacts.list_contacts, { tag: "Imported" });
  expect(data).toMatchObject([{ phone_number: "+14155550171", tags: ["imported", "läufer"] }]);
});

test("the limits on tags and attributes apply to imports too", async () => {
  const tags = (from: number) => Array.from({ length: 50 }, (_, index) => `t${from + index}`).join(";");
  const lines = [0, 50, 100, 150].map((from) => `+14155550172,${tags(from)}`);
  expect(await importText(`phone,tags\n${lines.join("\n")}\n`)).toMatchObject({ created: 1, updated: 3 });
  const more = await importText("phone,tags\n+14155550172,one more\n+14155550172,t7\n");
  expect(more).toMatchObject({
    updated: 1,
    rejected: 1,
    errors: [{ line: 2, reason: expect.stringContaining("200") }],
  });
  const long = "x".repeat(9_000);
  const fuller = await importText(`phone,a\n+14155550173,${long}\n`);
  expect(fuller).toMatchObject({ created: 1 });
  const tooFull = await importText(`phone,b\n+14155550173,${long}\n`);
  expect(tooFull).toMatchObject({ rejected: 1, errors: [{ reason: expect.stringContaining("16384") }] });
});

test("a number in a spreadsheet's scientific notation is rejected and creates no other contact", async () => {
  const report = await importText(
    'phone\n4.91512E+12\n"4,91512E+12"\n4.91512e12\n4915112345678.0\n+4915112345678\n',
  );
  expect(report).toMatchObject({ created: 1, rejected: 4 });
  expect(report.errors[0]?.reason).toMatch(/make its column text/);
  expect(await find("+49151212")).toBeUndefined();
});

test("two concurrent imports of one file run one after the other, and duplicate no contact", async () => {
  const numbers = Array.from({ length: 300 }, (_, index) => `+1415557${String(index).padStart(4, "0")}`);
  const upload_id = await upload(`phone\n${numbers.join("\n")}\n`);
  const started = await Promise.all([1, 2].map(() => app.call(imports.import_contacts, { upload_id })));
  await app.runDueJobs();
  const reports = await Promise.all(
    started.map(async ({ data }) => (await app.call(imports.get_import, { id: data.id })).data),
  );
  const counts = reports.map(({ created, updated }) => [created, updated]).sort();
  expect(counts).toEqual([
    [0, 300],
    [300, 0],
  ]);
});

test("an import continues when the key that started it is revoked", async () => {
  const created = await app.call(apiKeys.create_api_key, { name: "once", scopes: ["contacts.write"] });
  const upload_id = await upload("phone\n+14155550174\n");
  const started = await app.call(imports.import_contacts, { upload_id }, { key: created.data.secret_key });
  await app.call(apiKeys.delete_api_key, { id: created.data.id });
  expect(await finish(started.data.id)).toMatchObject({ status: "done", created: 1 });
});

test("a contact that is imported and tagged at the same time keeps all tags", { tags: "both" }, async () => {
  const upload_id = await upload("phone,tags\n+14155550175,from file\n");
  await app.call(imports.import_contacts, { upload_id });
  const { data } = await app.call(contacts.create_contact, { phone_number: "+14155550175" });
  await Promise.all([
    app.runDueJobs(),
    ...["a", "b", "c"].map((tag) => app.call(contacts.tag_contact, { id: data.id, add: [tag] })),
  ]);
  expect((await find("+14155550175"))?.tags.toSorted()).toEqual(["a", "b", "c", "from file"]);
});
