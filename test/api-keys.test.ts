/**
 * API keys: shown once, limited to their scopes, revoked at once, never with more scopes than their creator.
 */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { allScopes } from "../tools/contract/index.ts";
import { users } from "../tools/users.ts";
import { ownerEmail, ownerPassword, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";

const app = useTestApp();

const create = (input: { scopes: string[]; expires_at?: string }) =>
  app.call(apiKeys.create_api_key, { name: "test", ...input });

test("the secret is shown once, afterwards only its prefix", async () => {
  const { data } = await create({ scopes: ["contacts.read"] });
  expect(data.secret_key).toMatch(/^sk_live_[\w-]{43}$/);
  const listed = await app.call(apiKeys.list_api_keys, {});
  const row = listed.data.find(({ id }) => id === data.id);
  expect(row).toMatchObject({
    prefix: data.secret_key.slice(0, 14),
    scopes: ["contacts.read"],
    is_active: true,
  });
  expect(JSON.stringify(listed)).not.toContain(data.secret_key);
});

test("both spellings of a scope are accepted, and the response has the spelling of the path", async () => {
  const { data } = await create({ scopes: ["contacts:read", "inbox.write"] });
  expect(data.scopes).toEqual(["contacts.read", "inbox.write"]);
});

test("a revoked key is rejected at the next request", async () => {
  const { data } = await create({ scopes: ["contacts:read"] });
  const key = data.secret_key;
  await app.call(contacts.list_contacts, {}, { key });
  expect(await app.call(apiKeys.delete_api_key, { id: data.id })).toEqual({ data: { deleted: true } });
  expect(await expectFailure(app.call(contacts.list_contacts, {}, { key }))).toMatchObject({
    status: 401,
    code: "credential_invalid",
  });
  expect(await expectFailure(app.call(apiKeys.delete_api_key, { id: data.id }))).toMatchObject({
    status: 404,
  });
});

test("a key stops working when it expires, and is listed as inactive", async () => {
  const expires_at = new Date(app.now().getTime() + 60_000).toISOString();
  const { data } = await create({ scopes: ["contacts:read"], expires_at });
  await app.call(contacts.list_contacts, {}, { key: data.secret_key });
  await app.advanceTime(60_000);
  expect(await expectFailure(app.call(contacts.list_contacts, {}, { key: data.secret_key }))).toMatchObject({
    status: 401,
  });
  const listed = await app.call(apiKeys.list_api_keys, {});
  expect(listed.data.find(({ id }) => id === data.id)?.is_active).toBe(false);
});

test("an expiry in the past and an unknown scope are rejected with their field", async () => {
  const past = new Date(app.now().getTime() - 1).toISOString();
  expect(await expectFailure(create({ scopes: ["contacts:read"], expires_at: past }))).toMatchObject({
    status: 400,
    code: "expiry_not_in_future",
  });
  const failure = await expectFailure(create({ scopes: ["contacts:fly"] }));
  expect(failure).toMatchObject({ status: 400, code: "invalid_scope" });
  const known = allScopes.filter((scope) => !scope.startsWith("tokens:")).join(", ");
  expect(failure.error).toMatchObject({ param: "scopes", known });
});

test("an expiry with an offset is stored in UTC, and one that PostgreSQL can't read is rejected", async () => {
  const { data } = await create({ scopes: ["contacts:read"], expires_at: "2999-01-01T15:00:00+15:00" });
  expect(data.expires_at).toBe("2999-01-01T00:00:00.000Z");
  for (const expires_at of ["9999-12-31T23:59:59-01:00", "2999-01-01T00:00:00+16:00"]) {
    const unreadable = { scopes: ["contacts:read"], expires_at };
    expect(await expectFailure(create(unreadable))).toMatchObject({ status: 400, code: "invalid_request" });
  }
});

test("a key can't grant scopes that it does not have, and no key can grant account scopes", async () => {
  const accessToken = await signIn();
  const key = await createAs(accessToken, ["tokens:create", "contacts:read"]);
  const input = { name: "stronger", scopes: ["inbox:write"] };
  expect(await expectFailure(app.call(apiKeys.create_api_key, input, { key }))).toMatchObject({
    status: 403,
    code: "scope_not_held",
    error: { required_scopes: ["inbox:write"] },
  });
  expect(await expectFailure(create({ scopes: ["tokens:read"] }))).toMatchObject({
    status: 400,
    code: "scope_needs_sign_in",
  });
});

test("a key that expires can't create one that lives longer", async () => {
  const in10 = new Date(app.now().getTime() + 600_000).toISOString();
  const later = new Date(app.now().getTime() + 600_001).toISOString();
  const key = await createAs(await signIn(), ["tokens:create", "contacts:read"], in10);
  const make = (expires_at?: string) =>
    app.call(apiKeys.create_api_key, { name: "child", scopes: ["contacts:read"], expires_at }, { key });
  for (const expires_at of [undefined, later]) {
    expect(await expectFailure(make(expires_at))).toMatchObject({
      status: 403,
      code: "expiry_beyond_own",
      error: { limit: in10, param: "expires_at" },
    });
  }
  expect((await make(in10)).data.expires_at).toBe(in10);
});

describe("a key of a user", () => {
  /** A key that a new admin created, and the admin's id. */
  async function createAdminsKey() {
    const input = {
      email: `admin.${app.now().getTime()}.${count++}@example.com`,
      name: "Admin",
      password: ownerPassword,
    };
    const { data } = await app.call(users.create_user, { ...input, role: "admin" });
    const key = await createAs(await signIn(input.email), [
      "tokens:create",
      "tokens:read",
      "inbox:read",
      "broadcasts:send",
    ]);
    const { data: child } = await app.call(
      apiKeys.create_api_key,
      { name: "child", scopes: ["inbox:read"] },
      { key },
    );
    return { user: data.id, keys: [key, child.secret_key] as const };
  }
  let count = 0;
  const scopesOf = async (key: string) => (await app.call(auth.whoami, {}, { key })).data.scopes;

  test("is rejected once the user is deactivated, as are the keys that it created", async () => {
    const { user, keys } = await createAdminsKey();
    await app.call(users.update_user, { id: user, is_active: false });
    for (const key of keys) {
      expect(await expectFailure(scopesOf(key))).toMatchObject({ status: 401, code: "credential_invalid" });
    }
    const { data } = await app.call(apiKeys.list_api_keys, {});
    const theirs = data.filter(({ created_by }) => created_by === user);
    expect(theirs.map(({ is_active }) => is_active)).toEqual([false, false]);
  });

  test("keeps only the scopes of the user's present role", async () => {
    const { user, keys } = await createAdminsKey();
    expect(await scopesOf(keys[0])).toEqual([
      "inbox:read",
      "broadcasts:send",
      "tokens:read",
      "tokens:create",
    ]);
    await app.call(users.update_user, { id: user, role: "agent" });
    expect(await scopesOf(keys[0])).toEqual(["inbox:read"]);
    expect(await scopesOf(keys[1])).toEqual(["inbox:read"]);
    const { data } = await app.call(apiKeys.list_api_keys, {});
    expect(data.filter(({ created_by }) => created_by === user).map(({ scopes }) => scopes)).toEqual([
      ["inbox.read"],
      ["inbox.read"],
    ]);
  });
});

test("the developer-access path requires a user's access token, and answers scopes with colons", async () => {
  const path = "/v1/developer-access/api-keys";
  const json = { name: "by a person", scopes: ["contacts:read", "tokens:read"] };
  const byKey = await app.fetch(path, { method: "POST", json });
  expect(byKey.status).toBe(401);
  expect(await byKey.json()).toMatchObject({ error: { code: "sign_in_required" } });
  const byPerson = await app.fetch(path, {
    method: "POST",
    json,
    key: null,
    headers: { authorization: `Bearer ${await signIn()}` },
  });
  expect(byPerson.status).toBe(201);
  expect(await byPerson.json()).toMatchObject({ data: { scopes: ["contacts:read", "tokens:read"] } });
});

test("the time of the last use is accurate to the minute", async () => {
  const { data } = await create({ scopes: ["contacts:read"] });
  await app.call(contacts.list_contacts, {}, { key: data.secret_key });
  const listed = await app.call(apiKeys.list_api_keys, {});
  expect(listed.data.find(({ id }) => id === data.id)?.last_used_at).toBe(app.now().toISOString());
});

async function signIn(email = ownerEmail): Promise<string> {
  const { data } = await app.call(auth.login, { email, password: ownerPassword });
  return data.access_token;
}

async function createAs(accessToken: string, scopes: string[], expires_at?: string): Promise<string> {
  const answer = await app.fetch("/v1/developer-access/api-keys", {
    method: "POST",
    json: { name: "creator", scopes, expires_at },
    key: null,
    headers: { authorization: `Bearer ${accessToken}` },
  });
  const { data } = (await answer.json()) as { data: { secret_key: string } };
  return data.secret_key;
}

test("of requests that arrive together, one records the use of the key", async () => {
  const { queries } = app.server.database;
  await sql`create table uses (at timestamptz)`.execute(queries);
  await sql`
    create function record_use() returns trigger language plpgsql
    as $$ begin insert into uses values (new.last_used_at); return new; end $$
  `.execute(queries);
  await sql`
    create trigger record_use after update on api_keys for each row execute function record_use()
  `.execute(queries);
  await app.advanceTime(61_000);
  await Promise.all(Array.from({ length: 10 }, () => app.fetch("/v1/api-keys")));
  const { rows } = await sql`select at from uses`.execute(queries);
  await sql`drop trigger record_use on api_keys`.execute(queries);
  await sql`drop table uses`.execute(queries);
  expect(rows).toHaveLength(1);
});
