/** An upload belongs to the credential that created it; for those of others a key needs a scope. */
import { describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { imports } from "../tools/imports.ts";
import { uploads } from "../tools/uploads.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createUserKey, createUserWithRole, signIn, trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });

const files = {
  "notes.txt": "See you at noon.",
  "people.csv": "phone\n+14155550620\n",
} as const;

async function upload(file_name: keyof typeof files, key?: string) {
  const content_base64 = Buffer.from(files[file_name]).toString("base64");
  const options = key === undefined ? {} : { key };
  const { data } = await app.call(uploads.upload_file, { content_base64, file_name }, options);
  return data.id;
}

const createKey = async (...scopes: string[]) =>
  (await app.call(apiKeys.create_api_key, { name: "files", scopes })).data.secret_key;
const read = (id: string, key: string) => app.call(uploads.get_upload, { id }, { key });
const remove = (id: string, key: string) => app.call(uploads.delete_upload, { id }, { key });
const list = async (key: string) =>
  (await app.call(uploads.list_uploads, {}, { key })).data.map(({ id }) => id);
const rejected = (scope: string) => ({
  status: 403,
  code: "insufficient_scope",
  error: { required_scopes: [scope] },
});

test("a key lists, reads and deletes its own uploads", async () => {
  const key = await createKey("templates.create");
  const ids = [await upload("notes.txt", key), await upload("people.csv", key)];
  expect((await list(key)).sort()).toEqual(ids);
  for (const id of ids) {
    expect((await read(id, key)).data.id).toBe(id);
    await remove(id, key);
  }
  expect(await list(key)).toEqual([]);
});

describe.each([
  ["notes.txt", "inbox:write", "contacts:write"],
  ["people.csv", "contacts:write", "inbox:write"],
] as const)("%s of another credential", (name, needed, other) => {
  test(`is not found, read or deleted without ${needed}`, async () => {
    const id = await upload(name);
    const key = await createKey(other, "templates.create");
    expect(await list(key)).not.toContain(id);
    expect(await expectFailure(read(id, key))).toMatchObject(rejected(needed));
    expect(await expectFailure(remove(id, key))).toMatchObject(rejected(needed));
  });

  test(`is found, read and deleted with ${needed}`, async () => {
    const id = await upload(name);
    const key = await createKey(needed);
    expect(await list(key)).toContain(id);
    expect((await read(id, key)).data.file_name).toBe(name);
    await remove(id, key);
    expect(await expectFailure(read(id, key))).toMatchObject({ status: 404 });
  });
});

test("an import does not disclose what kind of file another credential uploaded", async () => {
  const upload_id = await upload("notes.txt");
  const key = await createKey("contacts.write", "contacts.manage");
  const failure = await expectFailure(app.call(imports.import_contacts, { upload_id }, { key }));
  expect(failure).toMatchObject(rejected("inbox:write"));
});

test("a user's uploads stay theirs over sign-ins, and are not those of the user's keys", async () => {
  const { email } = await createUserWithRole(app, "admin");
  const { access_token } = await signIn(app, email);
  const id = await upload("notes.txt", access_token);
  expect((await read(id, (await signIn(app, email)).access_token)).data.id).toBe(id);
  const key = await createUserKey(app, ["templates:create"], access_token);
  expect(await expectFailure(read(id, key))).toMatchObject(rejected("inbox:write"));
});
