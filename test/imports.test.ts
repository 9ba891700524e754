/** Imports: which rows become contacts, which are rejected and why, and what a crash in between does not change. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { imports } from "../tools/imports.ts";
import { uploads } from "../tools/uploads.ts";
import { type House, openHouse } from "./support/house.ts";
import { moveIn, type Neighbour } from "./support/neighbour.ts";
import { startReceiver } from "./support/receiver.ts";

let house: House;
let neighbour: Neighbour;
beforeAll(async () => {
  house = await openHouse({ env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" } });
  neighbour = await moveIn(house);
});
afterAll(() => house[Symbol.asyncDispose]());

async function upload(text: string): Promise<string> {
  const content_base64 = Buffer.from(text).toString("base64");
  const { data } = await house.call(uploads.upload_file, { content_base64, file_name: "people.csv" });
  return data.id;
}

async function finish(id: string) {
  await house.settle();
  return (await house.call(imports.get_import, { id })).data;
}

async function importText(text: string) {
  const { data } = await house.call(imports.import_contacts, { upload_id: await upload(text) });
  return finish(data.id);
}

async function find(phone: string) {
  const { data } = await house.call(contacts.list_contacts, { search: phone });
  const [found] = data;
  return found && (await house.call(contacts.get_contact, { id: found.id })).data;
}

test("columns become a contact's number, name, tags and attributes, all of them text", async () => {
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

test("a known contact keeps what the file does not name", async () => {
  await importText("phone,name,tags,city,age\n+14155550120,Bob,vip,Oslo,40\n");
  const report = await importText("phone_number;tags;city\n+14155550120;new;Bergen\n");
  expect(report).toMatchObject({ created: 0, updated: 1 });
  expect(await find("+14155550120")).toMatchObject({
    name: "Bob",
    tags: ["vip", "new"],
    metadata: { city: "Bergen", age: "40" },
  });
});

test("a row that can't be taken is reported with its line, and the others are taken", async () => {
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

test("of the rejected lines the first thousand are told", async () => {
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
])("%s ends the import, and says so", async (_, text, reason) => {
  const report = await importText(text);
  expect(report).toMatchObject({ status: "failed", created: 0, failure: expect.stringContaining(reason) });
});

test("an import that was cut short goes on after its last batch", async () => {
  const text = Array.from({ length: 500 }, (_, index) => `+1415556${String(index).padStart(4, "0")}`);
  const { data } = await house.call(imports.import_contacts, {
    upload_id: await upload(`phone\n${text.join("\n")}\n`),
  });
  // As the first batch's commit left it.
  await house.app.database.queries
    .updateTable("imports")
    .set({ status: "running", position: 200, created: 200 })
    .where("id", "=", data.id)
    .execute();
  expect(await finish(data.id)).toMatchObject({ status: "done", total: 500, created: 500 });
  expect(await find("+14155560199")).toBeUndefined();
  expect(await find("+14155560200")).toBeDefined();
  expect(await find("+14155560499")).toBeDefined();
});

test("what stands before a line that can't be read is imported", async () => {
  const report = await importText(`phone,name\n+14155550160,Ann\n+14155550161,"${"x\n".repeat(80_000)}`);
  expect(report).toMatchObject({ status: "failed", total: 1, created: 1 });
  expect(await find("+14155550160")).toBeDefined();
});

test("a file at an address is fetched first", async () => {
  await using source = await startReceiver((_, response) => {
    response.writeHead(200, { "content-type": "text/csv" }).end("phone\n+14155550150\n");
  });
  const good = await house.call(imports.import_contacts, { url: `http://127.0.0.1:${source.port}/export` });
  expect(await finish(good.data.id)).toMatchObject({ status: "done", created: 1 });
  const bad = await house.call(imports.import_contacts, { url: "http://10.0.0.1/people.csv" });
  expect(await finish(bad.data.id)).toMatchObject({
    status: "failed",
    failure: expect.stringContaining("can't be read"),
  });
});

test("a neighbour's upload, or one that is no CSV, is not imported", async () => {
  const theirs = house.call(imports.import_contacts, { upload_id: neighbour.upload_id });
  await expect(theirs).rejects.toMatchObject({ status: 404, code: "upload_not_found" });
  const content_base64 = Buffer.from("hello").toString("base64");
  const { data } = await house.call(uploads.upload_file, { content_base64, file_name: "a.txt" });
  const text = house.call(imports.import_contacts, { upload_id: data.id });
  await expect(text).rejects.toMatchObject({ status: 422, code: "not_a_csv_file" });
  const none = house.call(imports.import_contacts, {});
  await expect(none).rejects.toMatchObject({ status: 400, code: "one_source_needed" });
});
