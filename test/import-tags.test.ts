/** Tags of an import require the scope that manages tags. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { imports } from "../tools/imports.ts";
import { mcp } from "../tools/mcp.ts";
import { uploads } from "../tools/uploads.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";

const app = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_SOURCES: "true" } });

const withTags = "phone;Tags\n+14155550630;vip\n";
const withoutTags = "phone;name\n+14155550631;Ann\n";
const fix = "Use a key that holds contacts:manage, or delete the column, and import the file again.";

const createKey = async (...scopes: string[]) =>
  (await app.call(apiKeys.create_api_key, { name: "imports", scopes })).data.secret_key;

async function upload(text: string): Promise<string> {
  const content_base64 = Buffer.from(text).toString("base64");
  return (await app.call(uploads.upload_file, { content_base64, file_name: "people.csv" })).data.id;
}

async function finish(id: string) {
  await app.runDueJobs();
  return (await app.call(imports.get_import, { id })).data;
}

const countContacts = async () =>
  (await app.call(contacts.list_contacts, { search: "1415555063" })).data.length;

describe("without contacts:manage", () => {
  test("an upload with a column of tags is rejected, also by a tool call over REST", async () => {
    const key = await createKey("contacts.write");
    const rejected = {
      status: 403,
      code: "tags_not_permitted",
      error: { required_scopes: ["contacts:manage"], fix },
    };
    const input = { upload_id: await upload(withTags) };
    expect(await expectFailure(app.call(imports.import_contacts, input, { key }))).toMatchObject(rejected);
    const call = app.call(mcp.call_mcp_tool, { name: "import_contacts", arguments: input }, { key });
    expect(await expectFailure(call)).toMatchObject(rejected);
  });

  test("an upload without one is imported", async () => {
    const key = await createKey("contacts.write");
    const { data } = await app.call(
      imports.import_contacts,
      { upload_id: await upload(withoutTags) },
      { key },
    );
    expect(await finish(data.id)).toMatchObject({ status: "done", created: 1 });
  });
});

describe("a file from a URL", () => {
  let source: Server;
  let url: string;
  beforeAll(async () => {
    source = createServer((_, response) =>
      response.writeHead(200, { "content-type": "text/csv" }).end(withTags),
    );
    await new Promise<void>((resolve) => source.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/people.csv`; // a TCP port, as requested
  });
  afterAll(() => source.close());

  test("with a column of tags fails without contacts:manage, before its first row", async () => {
    const before = await countContacts();
    const { data } = await app.call(
      imports.import_contacts,
      { url },
      { key: await createKey("contacts.write") },
    );
    expect(await finish(data.id)).toMatchObject({
      status: "failed",
      total: 0,
      failure: `The file has a column named tags, and setting tags requires the scope contacts:manage. ${fix}`,
    });
    expect(await countContacts()).toBe(before);
  });

  test("sets tags with contacts:manage", async () => {
    const key = await createKey("contacts.write", "contacts.manage", "contacts.read");
    const { data } = await app.call(imports.import_contacts, { url }, { key });
    expect(await finish(data.id)).toMatchObject({ status: "done", created: 1, failure: null });
    const [contact] = (await app.call(contacts.list_contacts, { search: "14155550630" }, { key })).data;
    expect(contact?.tags).toEqual(["vip"]);
  });
});
