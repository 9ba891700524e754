/** The storage_url of an upload is taken wherever the address of a file is, under the same rule as its id. */
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { openStorage } from "../src/adapters/storage/index.ts";
import { readConfig } from "../src/config/index.ts";
import { collectBytes } from "../src/streams/bytes.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { imports } from "../tools/imports.ts";
import { knowledgeBase } from "../tools/knowledge-base/index.ts";
import { templates } from "../tools/templates/index.ts";
import { uploads } from "../tools/uploads.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { jpeg } from "./support/files.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { createPdf } from "./support/pdf.ts";

/** Local addresses are refused, so that nothing is downloaded. */
const app = useTestApp();

/** The open files of this process, as Linux lists them. */
const openFiles = "/proc/self/fd";

async function upload(file_name: string, content: string | Buffer, key?: string) {
  const content_base64 = Buffer.from(content).toString("base64");
  const options = key === undefined ? {} : { key };
  return (await app.call(uploads.upload_file, { content_base64, file_name }, options)).data;
}

const createKey = async (...scopes: string[]) =>
  (await app.call(apiKeys.create_api_key, { name: "files", scopes })).data.secret_key;

const withoutSignature = (url: string) => url.split("?")[0];

test.each([
  ["markdown", "notes.md", "# Hours\n\nThe ibis is fed at noon."],
  ["markdown", "notes.txt", "The ibis is fed at noon."],
  ["pdf", "notes.pdf", createPdf([["The ibis is fed at noon."]])],
  ["url", "notes.pdf", createPdf([["The ibis is fed at noon."]])],
] as const)(
  "a document of type %s is read from the storage_url of %s",
  async (source_type, name, content) => {
    const { id: upload_id, storage_url } = await upload(name, content);
    const input = { name: "Ibis", source_type, source_url: storage_url };
    const { data } = await app.call(knowledgeBase.add_document, input);
    expect(data).toMatchObject({ upload_id, source_url: withoutSignature(storage_url) });
    await app.runDueJobs();
    const { data: document } = await app.call(knowledgeBase.get_document, { id: data.id });
    expect(document).toMatchObject({ status: "ready", chunk_count: 1 });
  },
);

test("a document takes the storage_url of another upload as its new source", async () => {
  const { data } = await app.call(knowledgeBase.add_document, {
    name: "Emu",
    source_type: "markdown",
    content: "The emu sleeps.",
  });
  const { id: upload_id, storage_url } = await upload("emu.md", "The emu runs.");
  const change = { id: data.id, source_url: storage_url };
  expect((await app.call(knowledgeBase.update_document, change)).data.upload_id).toBe(upload_id);
  await app.runDueJobs();
  const query = { query: "What does the emu do?", top_k: 1 };
  const { data: found } = await app.call(knowledgeBase.search_knowledge_base, query);
  expect(found.results).toMatchObject([{ content: "The emu runs." }]);
});

test("an import and a cohort are read from the storage_url of a CSV file", async () => {
  const first = await upload("people.csv", "phone_number,name\n+14155550710,Ann\n");
  const { data: started } = await app.call(imports.import_contacts, { url: first.storage_url });
  await app.runDueJobs();
  const second = await upload("people.csv", "phone_number\n+14155550710\n+14155550711\n");
  const csv = { name: "File", type: "csv", query: {}, csv_url: second.storage_url } as const;
  const { data: cohort } = await app.call(cohorts.create_cohort, csv);
  expect(cohort.csv_url).toBe(withoutSignature(second.storage_url));
  await app.runDueJobs();
  const { data: imported } = await app.call(imports.get_import, { id: started.id });
  expect(imported).toMatchObject({ status: "done", created: 1 });
  const { data: built } = await app.call(cohorts.get_cohort, { id: cohort.id });
  expect(built).toMatchObject({ status: "ready", contact_count: 2 });
  const { data: ann } = await app.call(contacts.list_contacts, { search: "+14155550710" });
  expect(ann).toMatchObject([{ name: "Ann" }]);
});

test("an upload is copied by its storage_url, with its name", async () => {
  const { id, storage_url } = await upload("menu.txt", "Soup");
  const { data: copy } = await app.call(uploads.upload_file, { url: storage_url });
  expect(copy).toMatchObject({ file_name: "menu.txt", file_size: 4, content_type: "text/plain" });
  await app.call(uploads.delete_upload, { id });
  expect(await (await fetch(copy.storage_url)).text()).toBe("Soup");
});

describe.skipIf(!existsSync(openFiles))("a stored file", () => {
  const listOpen = () => {
    const links = readdirSync(openFiles).map((name) => join(openFiles, name));
    // The folder itself was open while it was read.
    const targets = links.filter((link) => existsSync(link)).map((link) => readlinkSync(link));
    return targets.filter((target) => target.includes("/kept/"));
  };

  test("is not left open by a call that rejects it", async () => {
    const { storage_url: url } = await upload("menu.txt", "Soup");
    const copy = app.call(uploads.upload_file, { url, content_type: "image/png" });
    expect(await expectFailure(copy)).toMatchObject({ status: 415 });
    expect(listOpen()).toEqual([]);
  });

  test("is opened when it is read", async () => {
    const folder = await mkdtemp(join(inject("folder"), "storage-"));
    const storage = openStorage(readConfig({ TIDINGS_DATA_DIR: folder }).config);
    const bytes = Buffer.from("0123456789");
    await storage.write(
      "a/b",
      (async function* () {
        yield bytes;
      })(),
      { contentType: "text/plain", disposition: "inline" },
    );
    const body = await storage.read("a/b", { start: 2, end: 4 });
    expect(listOpen()).toEqual([]);
    if (body === undefined) {
      throw new Error("The file is not stored.");
    }
    expect((await collectBytes(body, 10)).bytes.toString()).toBe("234");
    expect(await storage.read("a/c")).toBeUndefined();
    expect(listOpen()).toEqual([]);
  });
});

test("Markdown is uploaded under each of its names and types", async () => {
  expect(await upload("a.md", "# A")).toMatchObject({ content_type: "text/markdown" });
  expect(await upload("a.MARKDOWN", "# A")).toMatchObject({ content_type: "text/markdown" });
  const content_base64 = Buffer.from("# A").toString("base64");
  for (const content_type of ["text/markdown", "text/x-markdown", "text/plain"]) {
    const file = { content_base64, file_name: "a.md", content_type };
    expect((await app.call(uploads.upload_file, file)).data.content_type).toBe("text/markdown");
  }
});

/** Each operation that takes an address, with a file that suits it. */
const takers = {
  add_document: {
    file: { name: "notes.md", content: "Hello" },
    scope: "inbox:write",
    param: "source_url",
    send: (source_url: string, key: string) =>
      app.call(knowledgeBase.add_document, { name: "x", source_type: "markdown", source_url }, { key }),
  },
  import_contacts: {
    file: { name: "people.csv", content: "phone_number\n+14155550720\n" },
    scope: "contacts:write",
    param: "url",
    send: (url: string, key: string) => app.call(imports.import_contacts, { url }, { key }),
  },
  create_cohort: {
    file: { name: "people.csv", content: "phone_number\n+14155550720\n" },
    scope: "broadcasts:create",
    param: "csv_url",
    send: (csv_url: string, key: string) =>
      app.call(cohorts.create_cohort, { name: "x", type: "csv", query: {}, csv_url }, { key }),
  },
  upload_file: {
    file: { name: "notes.md", content: "Hello" },
    scope: "templates:create",
    param: "url",
    send: (url: string, key: string) => app.call(uploads.upload_file, { url }, { key }),
  },
} as const;

test.each(Object.entries(takers))(
  "%s does not find the upload of another organization",
  async (name, { file, param, scope, send }) => {
    const { key } = await createOrganizationFor(app, `Other of ${name}`);
    const { storage_url } = await upload(file.name, file.content, key);
    expect(await expectFailure(send(storage_url, await createKey(scope)))).toMatchObject({
      status: 404,
      code: "upload_not_found",
      error: { param },
    });
  },
);

test.each([
  ["add_document", 400],
  ["import_contacts", 422],
  ["create_cohort", 422],
] as const)("the address of an upload of another kind is refused by %s", async (name, status) => {
  const { param, scope, send } = takers[name];
  const { storage_url } = await upload("photo.jpg", jpeg);
  const failure = send(storage_url, await createKey(scope, "inbox:write"));
  expect(await expectFailure(failure)).toMatchObject({ status, error: { param } });
});

test.each([
  ["create_cohort", "contacts:write"],
  ["upload_file", "inbox:write"],
] as const)("%s takes the upload of another key only with %s", async (name, needed) => {
  const { file, scope, send } = takers[name];
  const { storage_url } = await upload(file.name, file.content);
  expect(await expectFailure(send(storage_url, await createKey(scope)))).toMatchObject({
    status: 403,
    code: "insufficient_scope",
    error: { required_scopes: [needed] },
  });
  const own = await createKey(scope, needed);
  expect((await send(storage_url, own)).data.id).toMatch(/^(coh|upl)_/);
});

test("a template and a broadcast take the file of another key only with inbox:write", async () => {
  const { storage_url: media_url } = await upload("photo.jpg", jpeg);
  const template_data = { header: { type: "image", media_url }, body: "Hello" } as const;
  const input = { name: "with_photo", category: "marketing", template_data } as const;
  const refused = { status: 403, code: "insufficient_scope", error: { required_scopes: ["inbox:write"] } };
  const author = await createKey("templates:create");
  const create = app.call(templates.create_template, input, { key: author });
  expect(await expectFailure(create)).toMatchObject(refused);
  const { data: template } = await app.call(templates.create_template, input);
  const edit = { id: template.id, template_data };
  const change = app.call(templates.update_template, edit, { key: author });
  expect(await expectFailure(change)).toMatchObject(refused);
  const { data: cohort } = await app.call(cohorts.create_cohort, { name: "All", query: {} });
  const sent = { name: "x", cohort_id: cohort.id, template_id: template.id, variable_mapping: {} };
  const sender = await createKey("broadcasts:create");
  const broadcast = { ...sent, header_media_url: media_url };
  const failure = app.call(broadcasts.create_broadcast, broadcast, { key: sender });
  expect(await expectFailure(failure)).toMatchObject(refused);
});
