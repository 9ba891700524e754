/** Sign-in: short-lived access tokens, single-use refresh tokens, password changes and whoami. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { allScopes } from "../tools/contract/index.ts";
import { users } from "../tools/users.ts";
import { ownerEmail, ownerPassword, startTestApp, useTestApp } from "./support/app.ts";
import { lendTestDatabase } from "./support/database.ts";
import { expectFailure } from "./support/expect-failure.ts";
import {
  createUserWithRole,
  requestLogin,
  signIn as signInFromNewAddress,
  trustedProxyEnv,
} from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });

const signIn = () => signInFromNewAddress(app, ownerEmail.toUpperCase(), ownerPassword);

test("a user signs in and calls with an access token", async () => {
  const session = await signIn();
  expect(session).toMatchObject({ token_type: "Bearer", expires_in: 900, refresh_expires_in: 604_800 });
  expect(session.user).toMatchObject({ email: ownerEmail, role: "owner" });
  const { data } = await app.call(auth.whoami, {}, { key: session.access_token });
  expect(data).toMatchObject({ role: "owner", scopes: allScopes, credential: { type: "access_token" } });
});

test("an unknown e-mail address and a wrong password get the same response", async () => {
  const unknown = await expectFailure(
    app.call(auth.login, { email: "unknown@example.com", password: ownerPassword }),
  );
  const wrong = await expectFailure(app.call(auth.login, { email: ownerEmail, password: "wrong" }));
  const { request_id: _, ...first } = unknown.error ?? {};
  const { request_id: __, ...second } = wrong.error ?? {};
  expect(unknown.status).toBe(401);
  expect(first).toEqual(second);
});

test("a refresh token works once; a second use ends the sign-in and its access tokens", async () => {
  const session = await signIn();
  const next = await app.call(auth.refresh, { refresh_token: session.refresh_token });
  expect(next.data.refresh_token).not.toBe(session.refresh_token);
  expect(await expectFailure(app.call(auth.refresh, { refresh_token: session.refresh_token }))).toMatchObject(
    {
      status: 401,
      code: "refresh_token_reused",
    },
  );
  expect(
    await expectFailure(app.call(auth.refresh, { refresh_token: next.data.refresh_token })),
  ).toMatchObject({
    status: 401,
  });
  for (const { access_token: key } of [session, next.data]) {
    expect(await expectFailure(app.call(auth.whoami, {}, { key }))).toMatchObject({
      code: "credential_invalid",
    });
  }
});

test("an access token expires after 15 minutes, and a forged one is rejected", async () => {
  const session = await signIn();
  const [header, payload] = session.access_token.split(".");
  const forged = `${header}.${payload}.${"A".repeat(43)}`;
  expect(await expectFailure(app.call(contacts.list_contacts, {}, { key: forged }))).toMatchObject({
    status: 401,
  });
  await app.call(contacts.list_contacts, {}, { key: session.access_token });
  await app.advanceTime(15 * 60_000);
  expect(
    await expectFailure(app.call(contacts.list_contacts, {}, { key: session.access_token })),
  ).toMatchObject({
    status: 401,
    code: "credential_invalid",
  });
});

test("a password change ends every session but the new one", async () => {
  await using app = await startTestApp();
  const before = (await app.call(auth.login, { email: ownerEmail, password: ownerPassword })).data;
  const change = (password: string, new_password: string) =>
    app.call(auth.change_password, { email: ownerEmail, password, new_password });
  expect(await expectFailure(change("wrong", "a new password"))).toMatchObject({
    status: 401,
    code: "login_failed",
  });
  expect(await expectFailure(change(ownerPassword, "short"))).toMatchObject({ status: 400 });
  const outcomes = await Promise.allSettled([
    change(ownerPassword, "a new password"),
    change(ownerPassword, "another one"),
  ]);
  const changed = outcomes.flatMap((one) => (one.status === "fulfilled" ? one.value.data : []));
  expect(changed).toHaveLength(1);
  const whoami = (key: string) => app.call(auth.whoami, {}, { key });
  expect(await expectFailure(whoami(before.access_token))).toMatchObject({ status: 401 });
  expect(await expectFailure(app.call(auth.refresh, { refresh_token: before.refresh_token }))).toMatchObject({
    code: "refresh_token_invalid",
  });
  expect((await whoami(changed[0]?.access_token ?? "")).data.user?.email).toBe(ownerEmail);
  // The limit of five attempts from one address counts all operations that take a password.
  expect(await expectFailure(change(ownerPassword, "a new password"))).toMatchObject({
    code: "rate_limited",
  });
});

test("a person changes the own e-mail address with the password, and the sessions continue", async () => {
  await using app = await startTestApp();
  const { access_token } = (await app.call(auth.login, { email: ownerEmail, password: ownerPassword })).data;
  const taken = await app.call(users.create_user, { email: "taken@example.com", name: "Taken" });
  const change = (password: string, new_email: string) =>
    app.call(auth.change_email, { email: ownerEmail, password, new_email });
  expect(await expectFailure(change("wrong", "new@example.com"))).toMatchObject({ code: "login_failed" });
  expect(await expectFailure(change(ownerPassword, taken.data.email.toUpperCase()))).toMatchObject({
    status: 409,
    code: "user_exists",
    error: { param: "new_email" },
  });
  expect((await change(ownerPassword, "new@example.com")).data).toMatchObject({ email: "new@example.com" });
  expect((await app.call(auth.whoami, {}, { key: access_token })).data.user?.email).toBe("new@example.com");
  await app.call(auth.login, { email: "New@example.com", password: ownerPassword });
});

test("a person changes the own name, whatever the role, and nobody else's", async () => {
  const { email, name: before } = await createUserWithRole(app, "agent");
  const { access_token: key } = await signInFromNewAddress(app, email);
  const { data } = await app.call(auth.update_profile, { name: "  Ada Lovelace " }, { key });
  expect(data).toMatchObject({ email, name: "Ada Lovelace", role: "agent" });
  expect(data.name).not.toBe(before);
  expect((await app.call(auth.whoami, {}, { key })).data.user).toMatchObject({ email, name: "Ada Lovelace" });
  expect(await expectFailure(app.call(auth.update_profile, { name: " " }, { key }))).toMatchObject({
    status: 400,
    error: { param: "name" },
  });
});

test("whoami describes an API key", async () => {
  const { data } = await app.call(auth.whoami, {});
  expect(data).toMatchObject({ role: null, user: null, credential: { type: "api_key", name: "First key" } });
  expect(data.scopes).toEqual(allScopes);
});

test("password guesses are limited per account, from any address; the headers show the nearer limit", async () => {
  const guess = async (address: string) => {
    const { status, headers } = await requestLogin(app, "guessed@example.com", "wrong", address);
    const names = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"];
    return [status, ...names.map((name) => headers.get(name))];
  };
  expect(await guess("192.0.2.77")).toEqual([401, "5", "4", "300", null]);
  for (let tries = 0; tries < 8; tries += 1) {
    await guess(`198.51.100.${tries}`);
  }
  expect(await guess("192.0.2.77")).toEqual([401, "10", "0", "900", null]);
  expect(await guess("192.0.2.78")).toEqual([429, "10", "0", "900", "900"]);
});

test("the key of a data folder that was revoked stays revoked after a restart", async () => {
  const localKey = `sk_live_${"f".repeat(43)}`;
  await using database = await lendTestDatabase();
  const first = await startTestApp({ database, localKey });
  const { data } = await first.call(auth.whoami, {}, { key: localKey });
  await first.call(apiKeys.delete_api_key, { id: data.credential.id });
  await first[Symbol.asyncDispose]();
  await using second = await startTestApp({ database, localKey });
  expect(await expectFailure(second.call(contacts.list_contacts, {}, { key: localKey }))).toMatchObject({
    status: 401,
    code: "credential_invalid",
  });
  const { data: keys } = await second.call(apiKeys.list_api_keys, {});
  expect(keys.map(({ name }) => name)).not.toContain("Commands and assistants of this machine");
});
