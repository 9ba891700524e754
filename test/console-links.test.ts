/** Links that sign a person in to the console: once, for 10 minutes, in every process. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { activity } from "../tools/activity.ts";
import { auth } from "../tools/auth.ts";
import { operator } from "../tools/operator.ts";
import { users } from "../tools/users.ts";
import {
  operatorKey,
  ownerEmail,
  ownerPassword,
  startTestApp,
  type TestApp,
  useTestApp,
} from "./support/app.ts";
import { openBrowser } from "./support/console.ts";
import { lendTestDatabase } from "./support/database.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createToken, localKey, openLink, requestLink } from "./support/sign-in-links.ts";
import { createUserWithRole, testPassword, trustedProxyEnv } from "./support/users.ts";

const minute = 60_000;

const app = useTestApp({ env: trustedProxyEnv, localKey });

const whoami = (key: string, at: Pick<TestApp, "call"> = app) => at.call(auth.whoami, {}, { key });
const invalid = { status: 401, body: { error: { code: "sign_in_link_invalid" } } };
const refused = { status: 409, body: { error: { code: "other_person_signed_in" } } };

describe("a link", () => {
  test("signs its person in, once", async () => {
    const { email, id } = await createUserWithRole(app, "agent");
    const token = await createToken(app, email.toUpperCase());
    const browser = openBrowser(app);
    const { status, headers, body } = await openLink(browser, token);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "set-cookie": expect.stringMatching(
        /^tidings-[\da-f]{12}=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/console; Max-Age=604800$/,
      ),
    });
    expect(body.data).toMatchObject({ signed_in_by: "link", user: { id, email, role: "agent" } });
    expect((await whoami(body.data.access_token)).data.user).toMatchObject({ id });
    const renewed = await browser.send("POST /console/session");
    expect(renewed).toMatchObject({ status: 200, body: { data: { signed_in_by: "link" } } });
    const again = await openLink(openBrowser(app), token);
    expect(again).toMatchObject(invalid);
    expect(again.headers).not.toHaveProperty("set-cookie");
    expect(again.body.error.fix).toContain("tidings console");
  });

  test("works for 10 minutes", async () => {
    const [early, late] = [await createToken(app), await createToken(app)];
    await app.advanceTime(10 * minute - 1);
    expect((await openLink(openBrowser(app), early)).status).toBe(200);
    await app.advanceTime(1);
    expect(await openLink(openBrowser(app), late)).toMatchObject(invalid);
  });

  test("is stored as a hash, and deleted after its end", async () => {
    const read = async () => {
      const found = sql<{ row: string }>`select l::text as row from sign_in_links l`;
      return (await found.execute(app.server.database.queries)).rows;
    };
    const token = await createToken(app);
    const rows = await read();
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ row }) => row.includes(token))).toEqual([]);
    await app.advanceTime(60 * minute);
    expect(await read()).toEqual([]);
  });

  test("that is unknown or malformed signs nobody in", async () => {
    expect(await openLink(openBrowser(app), "A".repeat(43))).toMatchObject(invalid);
    for (const json of [{}, { token: 7 }, { token: "" }, { token: "x".repeat(513) }]) {
      const headers = { "x-forwarded-for": `203.0.113.${JSON.stringify(json).length % 250}` };
      const { status, body } = await openBrowser(app).send("POST /console/link", { json, headers });
      expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_request", "token"]);
    }
  });

  test("is taken by any process, and by one of two at once", { tags: "both" }, async () => {
    await using database = await lendTestDatabase();
    await using first = await startTestApp({ database, env: trustedProxyEnv, localKey });
    await using second = await startTestApp({ database, env: trustedProxyEnv, localKey });
    expect((await openLink(openBrowser(second), await createToken(first))).status).toBe(200);
    const token = await createToken(first);
    const browsers = [openBrowser(first), openBrowser(second), openBrowser(first)];
    const answers = await Promise.all(browsers.map((browser) => openLink(browser, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  test.each([
    ["a new password", { password: "another long password" }],
    ["deactivation, also if it is undone", { is_active: false }],
  ])("ends by %s of its person", async (_, change) => {
    const { id, email } = await createUserWithRole(app, "agent");
    const token = await createToken(app, email);
    await app.call(users.update_user, { id, ...change });
    await app.call(users.update_user, { id, is_active: true });
    expect(await openLink(openBrowser(app), token)).toMatchObject(invalid);
  });

  test("works again when its organization is resumed", async () => {
    await using server = await startTestApp({ env: trustedProxyEnv, localKey });
    const { data } = await whoami(await server.signOwner(), server);
    const token = await createToken(server);
    const call = { key: operatorKey };
    const { id } = data.organization;
    await server.call(operator.suspend_organization, { id, reason: "unpaid" }, call);
    const suspended = { status: 403, body: { error: { code: "organization_suspended" } } };
    expect(await openLink(openBrowser(server), token)).toMatchObject(suspended);
    expect(await requestLink(server)).toMatchObject(suspended);
    await server.call(operator.resume_organization, { id }, call);
    expect((await openLink(openBrowser(server), token)).status).toBe(200);
  });

  test("has the limits of the login operation, and shares its counts", async () => {
    await using server = await startTestApp({ env: trustedProxyEnv, localKey });
    const headers = { "x-forwarded-for": "203.0.113.77" };
    const json = { email: ownerEmail, password: "wrong" };
    const statuses = [(await openBrowser(server).send("POST /console/login", { json, headers })).status];
    for (let tries = 0; tries < 4; tries += 1) {
      statuses.push((await openLink(openBrowser(server), `guess ${tries}`, { headers })).status);
    }
    const token = await createToken(server);
    const last = await openLink(openBrowser(server), token, { headers });
    expect([...statuses, last.status]).toEqual([401, 401, 401, 401, 401, 429]);
    // Guesses from many addresses lock nobody out of a link.
    for (let tries = 0; tries < 12; tries += 1) {
      await openLink(openBrowser(server), `other guess ${tries}`);
    }
    expect((await openLink(openBrowser(server), token)).status).toBe(200);
  });

  test("is in the record of acts: its making and the sign-in", async () => {
    const { id, email } = await createUserWithRole(app, "agent");
    const { body } = await openLink(openBrowser(app), await createToken(app, email));
    const { data } = await app.call(activity.list_activity, { by: id });
    expect(data).toMatchObject([
      { operation: "login", outcome: "done", status: 200, session_id: body.data.session_id, arguments: {} },
    ]);
    const made = await app.call(operator.list_operator_activity, { per_page: 1 }, { key: operatorKey });
    expect(made.data).toMatchObject([{ operation: "create-sign-in-link", by: { id: "machine" } }]);
  });
});

describe("in a browser in which somebody is signed in", () => {
  async function signIn() {
    const user = await createUserWithRole(app, "agent");
    const browser = openBrowser(app);
    return { user, browser, session: await browser.signIn(user.email, testPassword) };
  }

  test("the link of another person asks first, and stays usable", async () => {
    const { browser, session } = await signIn();
    const other = await createUserWithRole(app, "supervisor");
    const token = await createToken(app, other.email);
    const answer = await openLink(browser, token);
    expect(answer).toMatchObject(refused);
    expect(answer.body.error).toMatchObject({ name: other.name, email: other.email });
    expect((await browser.send("POST /console/session")).body.data.session_id).toBe(session.session_id);
    const replaced = await openLink(browser, token, { replaces_session: true });
    expect(replaced).toMatchObject({ status: 200, body: { data: { user: { id: other.id } } } });
    expect(await expectFailure(whoami(session.access_token))).toMatchObject({ code: "credential_invalid" });
  });

  test("the link of the same person lets the session go on that began with a password", async () => {
    const { user, browser, session } = await signIn();
    const token = await createToken(app, user.email);
    const { status, headers, body } = await openLink(browser, token);
    expect([status, body.data.session_id, body.data.signed_in_by]).toEqual([
      200,
      session.session_id,
      "password",
    ]);
    expect(headers).not.toHaveProperty("set-cookie");
    await whoami(session.access_token);
    expect(await openLink(openBrowser(app), token)).toMatchObject(invalid);
  });

  test("a link that has ended changes nothing", async () => {
    const { browser, session } = await signIn();
    expect(await openLink(browser, "A".repeat(43))).toMatchObject(invalid);
    expect((await browser.send("POST /console/session")).body.data.session_id).toBe(session.session_id);
  });

  test("a session that has ended meanwhile is nobody's", async () => {
    const { browser } = await signIn();
    const other = await createUserWithRole(app, "agent");
    await app.advanceTime(12 * 60 * minute);
    expect((await openLink(browser, await createToken(app, other.email))).status).toBe(200);
  });
});

describe("the command on the machine", () => {
  test("makes a link for the owner, or for the person with an address", async () => {
    const { email, id } = await createUserWithRole(app, "agent");
    expect((await requestLink(app)).body.data).toEqual({
      token: expect.stringMatching(/^[\w-]{43}$/),
      expires_at: new Date(app.now().getTime() + 10 * minute).toISOString(),
      address: app.address,
      user: expect.objectContaining({ email: ownerEmail, role: "owner" }),
    });
    expect((await requestLink(app, email)).body.data.user).toMatchObject({ id, email, role: "agent" });
  });

  test("makes none for an unknown or deactivated person", async () => {
    const { email, id } = await createUserWithRole(app, "agent");
    await app.call(users.update_user, { id, is_active: false });
    for (const address of [email, "nobody@example.com"]) {
      expect(await requestLink(app, address)).toMatchObject({
        status: 404,
        body: { error: { code: "user_not_found" } },
      });
    }
  });

  test("does not change the password, with which the person signs in as before", async () => {
    await openLink(openBrowser(app), await createToken(app));
    expect((await openBrowser(app).signIn(ownerEmail, ownerPassword)).signed_in_by).toBe("password");
  });
});
