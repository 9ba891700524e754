/** Users: creation, the roles that a key may grant, and an organization that always has an owner. */
import { describe, expect, test } from "vitest";
import { newPassword } from "../src/platform/account/identity/index.ts";
import { auth } from "../tools/auth.ts";
import { users } from "../tools/users.ts";
import { ownerEmail, ownerPassword, startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { createUserWithRole, requestLogin, signIn, testPassword, trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });

const ownerId = async (of: TestApp = app) =>
  (await of.call(users.list_users, { search: ownerEmail })).data[0]?.id ?? "no owner";

test("a user without a password gets a generated one, shown once", async () => {
  const { data } = await app.call(users.create_user, { email: "Ada@Example.com", name: "Ada" });
  expect(data).toMatchObject({ email: "Ada@Example.com", role: "agent", is_active: true });
  const listed = await app.call(users.list_users, { search: "ada@" });
  expect(JSON.stringify(listed)).not.toContain(data.password);
  expect((await signIn(app, "ada@EXAMPLE.com", data.password)).user.id).toBe(data.id);
});

test("a generated password begins with a letter or a digit, so that no command reads it as an option", () => {
  const passwords = Array.from({ length: 500 }, newPassword);
  expect(passwords.filter((password) => !/^[A-Za-z\d][\w-]{15}$/.test(password))).toEqual([]);
});

test("a chosen password is not returned, and passwords are stored hashed", async () => {
  const { id, ...answer } = await createUserWithRole(app, "agent");
  expect(answer).not.toHaveProperty("password");
  const { password_hash } = await app.server.database.queries
    .selectFrom("users")
    .select("password_hash")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  expect(password_hash).toMatch(/^\$argon2id\$/);
});

test.each(["123456789", "x".repeat(1025)])(
  "every operation rejects a new password of the wrong length (%#)",
  async (value) => {
    const id = await ownerId();
    const current = { email: ownerEmail, password: ownerPassword };
    const calls: readonly [field: string, call: () => Promise<unknown>][] = [
      [
        "password",
        () => app.call(users.create_user, { email: "new@example.com", name: "New", password: value }),
      ],
      ["password", () => app.call(users.update_user, { id, password: value })],
      ["new_password", () => app.call(auth.change_password, { ...current, new_password: value })],
    ];
    for (const [field, call] of calls) {
      expect(await expectFailure(call())).toMatchObject({
        status: 400,
        error: { details: [{ field, message: "Send 10 to 1024 characters." }] },
      });
    }
  },
);

test("an e-mail address belongs to one user, in any case and organization", async () => {
  const { email, id } = await createUserWithRole(app, "agent");
  const again = await expectFailure(
    app.call(users.create_user, { email: email.toUpperCase(), name: "Other" }),
  );
  expect(again).toMatchObject({ status: 409, code: "user_exists", error: { existing_id: id } });
  const { user_id } = await createOtherTenant(app);
  const taken = `${user_id}@example.com`;
  const theirs = await expectFailure(app.call(users.create_user, { email: taken, name: "Spy" }));
  expect(theirs).toMatchObject({ status: 409, code: "user_exists" });
  expect(theirs.error).not.toHaveProperty("existing_id");
});

test("users are searched by name or address, with literal wildcards, and filtered by role", async () => {
  await app.call(users.create_user, {
    email: "grace_h@example.org",
    name: "Grace 100%",
    role: "supervisor",
  });
  const find = async (input: object) =>
    (await app.call(users.list_users, input)).data.map(({ name }) => name);
  expect(await find({ search: "gRACE" })).toEqual(["Grace 100%"]);
  expect(await find({ search: "E_H@" })).toEqual(["Grace 100%"]);
  expect(await find({ search: "100%" })).toEqual(["Grace 100%"]);
  expect(await find({ search: "g_ace" })).toEqual([]);
  expect(await find({ role: "supervisor", search: "grace" })).toEqual(["Grace 100%"]);
  expect(await find({ role: "admin", search: "grace" })).toEqual([]);
});

test("a signed-in person grants only roles whose scopes the person has", async () => {
  const { email } = await createUserWithRole(app, "supervisor");
  const { access_token: key } = await signIn(app, email);
  const made = app.call(users.create_user, { email: "x@granted.example", name: "X", role: "agent" }, { key });
  expect(await expectFailure(made)).toMatchObject({ status: 403, code: "insufficient_scope" });
});

test("an update changes only the fields sent", async () => {
  const before = await createUserWithRole(app, "agent");
  await app.advanceTime(1000);
  const { data } = await app.call(users.update_user, { id: before.id, role: "supervisor" });
  expect(data).toEqual({ ...before, role: "supervisor", updated_at: app.now().toISOString() });
  expect((await requestLogin(app, before.email, testPassword)).status).toBe(200);
});

describe("an organization always has an active owner", () => {
  // Other tests create owners.
  const app = useTestApp({ env: trustedProxyEnv });

  test.each([{ role: "admin" as const }, { is_active: false }])(
    "%j is rejected for the last one",
    async (change) => {
      const id = await ownerId(app);
      expect(await expectFailure(app.call(users.update_user, { id, ...change }))).toMatchObject({
        status: 409,
        code: "last_owner",
      });
      await app.call(users.update_user, { id, name: "Still owner" });
    },
  );

  test("an inactive owner does not count", async () => {
    const other = await createUserWithRole(app, "owner");
    await app.call(users.update_user, { id: other.id, is_active: false });
    expect(
      await expectFailure(app.call(users.update_user, { id: await ownerId(app), role: "agent" })),
    ).toMatchObject({ code: "last_owner" });
  });

  test("of several owners deactivated at once, one remains", async () => {
    // An app of its own: the owner of the other tests stays active.
    // Its key belongs to no user, so that it outlives every one of them.
    const key = `sk_live_${"l".repeat(43)}`;
    await using own = await startTestApp({ localKey: key });
    const others = [
      await createUserWithRole(own, "owner"),
      await createUserWithRole(own, "owner"),
      await createUserWithRole(own, "owner"),
    ];
    const ids = [await ownerId(own), ...others.map(({ id }) => id)];
    const tokens = [
      await own.signOwner(),
      ...(await Promise.all(others.map(async ({ email }) => (await signIn(own, email)).access_token))),
    ];
    const outcomes = await Promise.allSettled(
      ids.map((id, index) =>
        own.call(users.update_user, { id, is_active: false }, { key: tokens[index] ?? "" }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(1);
    const { data } = await own.call(users.list_users, { role: "owner" }, { key });
    expect(data.filter(({ is_active }) => is_active)).toHaveLength(1);
  });
});

describe("only an owner changes an owner:", () => {
  const owner = () => createUserWithRole(app, "owner");

  test("an admin can't", async () => {
    const { id, email } = await owner();
    const other = await createUserWithRole(app, "agent");
    const { access_token: key } = await signIn(app, (await createUserWithRole(app, "admin")).email);
    const rejected = { status: 403, code: "owner_required" };
    for (const change of [
      { role: "agent" as const },
      { is_active: false },
      { password: "taken over!" },
      { name: "X" },
    ]) {
      expect(await expectFailure(app.call(users.update_user, { id, ...change }, { key }))).toMatchObject(
        rejected,
      );
    }
    const promote = app.call(users.update_user, { id: other.id, role: "owner" }, { key });
    expect(await expectFailure(promote)).toMatchObject(rejected);
    const create = app.call(
      users.create_user,
      { email: `${id}@made.example`, name: "O", role: "owner" },
      { key },
    );
    expect(await expectFailure(create)).toMatchObject(rejected);
    await app.call(users.update_user, { id: other.id, role: "admin" }, { key });
    expect((await requestLogin(app, email, testPassword)).status).toBe(200);
  });

  test("an owner can", async () => {
    const { id } = await owner();
    const key = (await signIn(app, ownerEmail, ownerPassword)).access_token;
    const { data } = await app.call(users.update_user, { id, role: "agent" }, { key });
    expect(data.role).toBe("agent");
  });
});

test("of two users created with one address at once, one is", async () => {
  const make = (email: string) =>
    app.call(users.create_user, { email, name: "Other", password: testPassword });
  const outcomes = await Promise.allSettled([make("same@example.com"), make("SAME@example.com")]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a repeated request creates one user and returns the same password", async () => {
  const create = () =>
    app.call(users.create_user, { email: "once@example.com", name: "Once" }, { idempotencyKey: "once" });
  const [first, second] = [await create(), await create()];
  expect(second).toEqual(first);
  await signIn(app, "once@example.com", first.data.password);
});

test("an inactive user can't sign in until reactivated", async () => {
  const { id, email } = await createUserWithRole(app, "agent");
  await app.call(users.update_user, { id, is_active: false });
  expect((await requestLogin(app, email, testPassword)).status).toBe(401);
  await app.call(users.update_user, { id, is_active: true });
  const { access_token } = await signIn(app, email);
  const { data } = await app.call(auth.whoami, {}, { key: access_token });
  expect(data).toMatchObject({ role: "agent", user: { id } });
});
