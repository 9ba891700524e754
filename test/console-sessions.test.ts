/** Sessions of the console: the cookie, who may send it, how long it lasts, and what ends it. */
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
import { openBrowser, type TestBrowser } from "./support/console.ts";
import { lendTestDatabase } from "./support/database.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createUserWithRole, testPassword, trustedProxyEnv } from "./support/users.ts";

const [minute, hour, day] = [60_000, 3_600_000, 24 * 3_600_000];

const app = useTestApp({ env: trustedProxyEnv });

const whoami = (key: string, at: Pick<TestApp, "call"> = app) => at.call(auth.whoami, {}, { key });
const ended = { status: 401, body: { error: { code: "console_session_ended" } } };
const rejected = { status: 401, code: "credential_invalid" };
const renew = (browser: TestBrowser) => browser.send("POST /console/session");

async function signInAs(role: "owner" | "admin" | "supervisor" | "agent") {
  const user = await createUserWithRole(app, role);
  const browser = openBrowser(app);
  return { user, browser, session: await browser.signIn(user.email, testPassword) };
}

describe("a sign-in", () => {
  test("gives the page an access token of the person, and the browser a cookie for the console alone", async () => {
    const user = await createUserWithRole(app, "supervisor");
    const { status, headers, body } = await openBrowser(app).send("POST /console/login", {
      json: { email: user.email.toUpperCase(), password: testPassword },
      headers: { "x-forwarded-for": "192.0.2.1" },
    });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "set-cookie": expect.stringMatching(
        /^tidings-[\da-f]{12}=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/console; Max-Age=604800$/,
      ),
    });
    const { data } = await whoami(body.data.access_token);
    expect(body).toEqual({
      data: {
        access_token: body.data.access_token,
        expires_at: data.credential.expires_at,
        session_id: expect.stringMatching(/^ses_/),
        signed_in_by: "password",
        user: { id: user.id, email: user.email, name: user.name, role: "supervisor", scopes: data.scopes },
        organization: data.organization,
        assistant_command: null,
      },
    });
    expect(Date.parse(body.data.expires_at) - app.now().getTime()).toBeGreaterThan(14 * minute);
  });

  test("at an https address sets a cookie that is sent encrypted alone", async () => {
    const env = { ...trustedProxyEnv, TIDINGS_PUBLIC_URL: "https://desk.example.com" };
    await using server = await startTestApp({ env });
    const browser = openBrowser(server);
    const origin = { origin: "https://desk.example.com", host: "desk.example.com" };
    const json = { email: ownerEmail, password: ownerPassword };
    const { headers } = await browser.send("POST /console/login", { json, headers: origin });
    expect(headers["set-cookie"]).toMatch(/^__Secure-tidings-[\da-f]{12}=.*; Path=\/console; .*; Secure$/);
    expect((await browser.send("POST /console/session", { headers: origin })).status).toBe(200);
    // The same host without encryption is another origin.
    const plain = { ...origin, origin: "http://desk.example.com" };
    expect((await browser.send("POST /console/session", { headers: plain })).status).toBe(403);
  });

  test("stores only a hash of the cookie", async () => {
    const { browser } = await signInAs("agent");
    const secret = browser.cookie?.split("=")[1] ?? "";
    const { queries } = app.server.database;
    const { rows } = await sql<{ row: string }>`select s::text row from console_sessions s`.execute(queries);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ row }) => row.includes(secret))).toEqual([]);
  });

  test("makes a new session, and ends the one whose cookie it replaces", async () => {
    const { user, browser, session } = await signInAs("agent");
    const before = openBrowser(app);
    before.cookie = browser.cookie;
    const next = await browser.signIn(user.email, testPassword);
    expect(next.session_id).not.toBe(session.session_id);
    expect(browser.cookie).not.toBe(before.cookie);
    expect(await renew(before)).toMatchObject(ended);
    expect(await expectFailure(whoami(session.access_token))).toMatchObject(rejected);
    expect((await renew(browser)).status).toBe(200);
  });

  test("with a wrong password, an unknown address, or a deactivated user gets the same answer", async () => {
    const user = await createUserWithRole(app, "agent");
    await app.call(users.update_user, { id: user.id, is_active: false });
    const attempts = [
      { email: ownerEmail, password: "wrong" },
      { email: "nobody@example.com", password: ownerPassword },
      { email: user.email, password: testPassword },
    ];
    for (const json of attempts) {
      const headers = { "x-forwarded-for": `203.0.113.${json.email.length}` };
      const answer = await openBrowser(app).send("POST /console/login", { json, headers });
      expect(answer).toMatchObject({ status: 401, body: { error: { code: "login_failed" } } });
      expect(answer.headers).not.toHaveProperty("set-cookie");
    }
  });

  test.each([
    [{}, "email"],
    [{ email: ownerEmail }, "password"],
    [{ email: ownerEmail, password: 7 }, "password"],
    [[], ""],
  ])("with the body %j is answered with 400", async (json, param) => {
    const headers = { "x-forwarded-for": `203.0.113.${100 + JSON.stringify(json).length}` };
    const { status, body } = await openBrowser(app).send("POST /console/login", { json, headers });
    expect([status, body.error.code, body.error.param ?? ""]).toEqual([400, "invalid_request", param]);
  });

  test("has the limits of the login operation, and shares its counts", async () => {
    const { email } = await createUserWithRole(app, "agent");
    const from = (address: string) => ({ "x-forwarded-for": address });
    const login = (headers: Record<string, string>, password: string) =>
      openBrowser(app).send("POST /console/login", { json: { email, password }, headers });
    const statuses: number[] = [];
    for (let tries = 0; tries < 4; tries += 1) {
      statuses.push((await login(from("203.0.113.200"), "wrong")).status);
    }
    const json = { email, password: "wrong" };
    const headers = from("203.0.113.200");
    statuses.push((await app.fetch("/v1/auth/login", { method: "POST", key: null, json, headers })).status);
    const last = await login(headers, testPassword);
    expect([...statuses, last.status]).toEqual([401, 401, 401, 401, 401, 429]);
    expect(last.headers["retry-after"]).toBe("300");
    // The address that signed in is not locked out by guesses from others.
    expect((await login(from("203.0.113.201"), testPassword)).status).toBe(200);
    for (let tries = 0; tries < 10; tries += 1) {
      await login(from(`203.0.113.${210 + tries}`), "wrong");
    }
    expect((await login(from("203.0.113.202"), testPassword)).status).toBe(429);
    expect((await login(from("203.0.113.201"), testPassword)).status).toBe(200);
  });

  test("is in the record of acts, and a refused one too", async () => {
    const { user, session } = await signInAs("agent");
    const json = { email: user.email, password: "wrong" };
    const headers = { "x-forwarded-for": "192.0.2.2" };
    await openBrowser(app).send("POST /console/login", { json, headers });
    const list = async () => (await app.call(activity.list_activity, { by: user.id })).data;
    await expect.poll(async () => (await list()).length).toBe(2);
    const hidden = { email: "…", password: "…" };
    expect(await list()).toMatchObject([
      {
        operation: "login",
        outcome: "refused",
        error_code: "login_failed",
        session_id: null,
        arguments: hidden,
      },
      { operation: "login", outcome: "done", status: 200, session_id: session.session_id, arguments: hidden },
    ]);
  });
});

describe("a request that changes something", () => {
  const posts = ["login", "link", "session"].map((name) => `POST /console/${name}`);
  const lines = [...posts, "DELETE /console/session"];

  test.each([
    ["another site", { origin: "https://evil.example" }],
    ["another port of the host", { origin: "http://127.0.0.1:1" }],
    ["another loopback name", { origin: "http://localhost" }],
    ["a sandboxed page", { origin: "null" }],
    ["another port, as the browser says", { "sec-fetch-site": "same-site" }],
    ["another site, as the browser says", { "sec-fetch-site": "cross-site" }],
    ["no page", { origin: "", "sec-fetch-site": "none" }],
    [
      "a page whose origin a proxy would rewrite",
      { origin: "http://evil.example", "x-forwarded-host": "evil.example" },
    ],
  ])("is refused from %s, also with a valid cookie", async (_, headers) => {
    const { browser, user } = await signInAs("agent");
    for (const line of lines) {
      const json = /login|link/.test(line) ? { json: { email: user.email, password: testPassword } } : {};
      const answer = await browser.send(line, { headers, ...json });
      expect([line, answer.status, answer.body.error.code]).toEqual([line, 403, "foreign_page"]);
      expect(answer.headers).not.toHaveProperty("set-cookie");
    }
    expect((await renew(browser)).status).toBe(200);
  });

  test("is refused at a name that leads here and is not the service's own", async () => {
    const { browser } = await signInAs("agent");
    for (const line of lines) {
      const headers = {
        host: "evil.example",
        origin: "http://evil.example",
        "sec-fetch-site": "same-origin",
      };
      const { status, body } = await browser.send(line, { headers });
      expect([line, status, body.error.code]).toEqual([line, 403, "host_not_allowed"]);
    }
  });

  test("is accepted from a page of the service, as the browser or the Origin header says", async () => {
    const { browser } = await signInAs("agent");
    const { port } = new URL(app.address);
    const ways: readonly Readonly<Record<string, string>>[] = [
      { "sec-fetch-site": "same-origin", origin: "http://proxied.example" },
      { host: `localhost:${port}`, origin: `http://localhost:${port}` },
    ];
    for (const headers of ways) {
      expect((await browser.send("POST /console/session", { headers })).status).toBe(200);
    }
  });

  test("is accepted as JSON only, which a form of another page can't send", async () => {
    const answer = await openBrowser(app).send("POST /console/login", {
      json: {},
      headers: { "content-type": "text/plain" },
    });
    expect(answer).toMatchObject({ status: 415, body: { error: { code: "unsupported_media_type" } } });
  });
});

describe("a session", () => {
  test("gives access tokens as long as it is used every 12 hours", async () => {
    const { browser, session } = await signInAs("agent");
    await app.advanceTime(12 * hour - 1);
    const { status, body } = await renew(browser);
    expect([status, body.data.session_id]).toEqual([200, session.session_id]);
    await app.advanceTime(12 * hour);
    expect(await renew(browser)).toMatchObject(ended);
  });

  test("ends 7 days after the sign-in, however much it is used", async () => {
    const { browser } = await signInAs("agent");
    const beginning = app.now().getTime();
    while (app.now().getTime() < beginning + 7 * day - 12 * hour) {
      await app.advanceTime(11 * hour);
      expect((await renew(browser)).status).toBe(200);
    }
    await app.advanceTime(beginning + 7 * day - 1 - app.now().getTime());
    expect((await renew(browser)).status).toBe(200);
    await app.advanceTime(1);
    expect(await renew(browser)).toMatchObject(ended);
  });

  test("is deleted a day after its end", async () => {
    const { session } = await signInAs("agent");
    const count = async () => {
      const { rows } = await sql`select from console_sessions where id = ${session.session_id}`.execute(
        app.server.database.queries,
      );
      return rows.length;
    };
    await app.advanceTime(12 * hour);
    expect(await count()).toBe(1);
    await app.advanceTime(25 * hour);
    expect(await count()).toBe(0);
  });

  test.each([
    ["without a cookie", undefined],
    ["with the cookie of another service on this host", "tidings-000000000000=x"],
    ["with a made-up secret", "made up"],
  ])("does not exist %s", async (_, cookie) => {
    const { browser } = await signInAs("agent");
    browser.cookie = cookie === "made up" ? `${browser.cookie?.split("=")[0]}=${"A".repeat(43)}` : cookie;
    expect(await renew(browser)).toMatchObject(ended);
  });

  test("is found beside other cookies, and beside another one of the same name", async () => {
    const { browser } = await signInAs("agent");
    const [name] = browser.cookie?.split("=") ?? [];
    browser.cookie = `theme=dark; ${name}=planted; ${browser.cookie}; ${name}x=1`;
    expect((await renew(browser)).status).toBe(200);
  });

  test("does not open the API", async () => {
    const { browser } = await signInAs("owner");
    expect((await browser.send("GET /v1/contacts")).status).toBe(401);
  });

  test("ends with a sign-out, in every process, with the access tokens that it gave", async () => {
    await using database = await lendTestDatabase();
    await using first = await startTestApp({ database, env: trustedProxyEnv });
    await using second = await startTestApp({ database, env: trustedProxyEnv });
    const browser = openBrowser(first);
    const session = await browser.signIn(ownerEmail, ownerPassword);
    const elsewhere = openBrowser(second);
    elsewhere.cookie = browser.cookie;
    const { body } = await renew(elsewhere);
    await whoami(body.data.access_token, first);
    const { status, headers } = await browser.send("DELETE /console/session");
    expect(status).toBe(204);
    expect(headers["set-cookie"]).toMatch(
      /^tidings-\w+=; HttpOnly; SameSite=Strict; Path=\/console; Max-Age=0$/,
    );
    expect(await renew(elsewhere)).toMatchObject(ended);
    for (const key of [session.access_token, body.data.access_token]) {
      expect(await expectFailure(whoami(key, second))).toMatchObject(rejected);
    }
    // Repeated, it does nothing.
    expect((await elsewhere.send("DELETE /console/session")).status).toBe(204);
  });

  test.each([
    ["another role", { role: "supervisor" as const }],
    ["a new password", { password: "another long password" }],
    ["deactivation", { is_active: false }],
  ])("ends by %s of the person, and no other session does", async (_, change) => {
    const { user, browser, session } = await signInAs("agent");
    const other = await signInAs("agent");
    await app.call(users.update_user, { id: user.id, ...change });
    expect(await expectFailure(whoami(session.access_token))).toMatchObject(rejected);
    expect(await renew(browser)).toMatchObject(ended);
    expect((await renew(other.browser)).status).toBe(200);
    await whoami(other.session.access_token);
  });

  test("that ended stays ended when the change is undone", async () => {
    for (const change of [{ password: testPassword }, { is_active: false }, { role: "admin" as const }]) {
      const { user, browser, session } = await signInAs("agent");
      await app.call(users.update_user, { id: user.id, ...change });
      await app.call(users.update_user, { id: user.id, is_active: true, role: "agent" });
      expect(await renew(browser)).toMatchObject(ended);
      expect(await expectFailure(whoami(session.access_token))).toMatchObject(rejected);
    }
  });

  test("gives no token while the organization is suspended", async () => {
    await using server = await startTestApp({ env: trustedProxyEnv });
    const browser = openBrowser(server);
    const { organization } = await browser.signIn(ownerEmail, ownerPassword);
    const call = { key: operatorKey };
    await server.call(operator.suspend_organization, { id: organization.id, reason: "unpaid" }, call);
    const suspended = { status: 403, body: { error: { code: "organization_suspended" } } };
    expect(await renew(browser)).toMatchObject(suspended);
    await server.call(operator.resume_organization, { id: organization.id }, call);
    expect((await renew(browser)).status).toBe(200);
  });
});
