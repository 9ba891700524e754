/** A person's own sessions of the console: the list, and ending one or all others. */
import { expect, test } from "vitest";
import { auth } from "../tools/auth.ts";
import { users } from "../tools/users.ts";
import { useTestApp } from "./support/app.ts";
import { openBrowser } from "./support/console.ts";
import { openStream } from "./support/event-stream.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createToken, localKey, openLink } from "./support/sign-in-links.ts";
import { createUserWithRole, signIn, testPassword, trustedProxyEnv } from "./support/users.ts";

const minute = 60_000;
const hour = 60 * minute;

const app = useTestApp({ env: trustedProxyEnv, localKey });

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const safari =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";

const list = (key: string) => app.call(auth.list_console_sessions, {}, { key });
const ended = { status: 401, body: { error: { code: "console_session_ended" } } };
const rejected = { status: 401, code: "credential_invalid" };

/** A new session of a person, in a browser of its own. */
async function begin(email: string) {
  const browser = openBrowser(app);
  const session = await browser.signIn(email, testPassword);
  return { browser, id: session.session_id, key: session.access_token };
}

test("a person sees the own sessions that have not ended, the last used first", async () => {
  const { email } = await createUserWithRole(app, "agent");
  const first = openBrowser(app);
  const json = { email, password: testPassword };
  const headers = { "user-agent": firefox, "x-forwarded-for": "203.0.113.7" };
  const { body } = await first.send("POST /console/login", { json, headers });
  const signedInAt = app.now().toISOString();
  await app.advanceTime(minute);
  const linked = await openLink(openBrowser(app), await createToken(app, email), {
    headers: { "user-agent": safari },
  });
  await (await begin(email)).browser.send("DELETE /console/session");
  await begin((await createUserWithRole(app, "agent")).email);
  await app.advanceTime(minute);
  const renewed = await first.send("POST /console/session");
  const usedAt = app.now().toISOString();
  expect(await list(renewed.body.data.access_token)).toEqual({
    data: [
      {
        id: body.data.session_id,
        browser: "Firefox on Linux",
        signed_in_by: "password",
        created_at: signedInAt,
        last_used_at: usedAt,
        expires_at: new Date(app.now().getTime() + 12 * hour).toISOString(),
        is_current: true,
      },
      {
        id: linked.body.data.session_id,
        browser: "Safari on iPhone",
        signed_in_by: "link",
        created_at: new Date(app.now().getTime() - minute).toISOString(),
        last_used_at: new Date(app.now().getTime() - minute).toISOString(),
        expires_at: expect.any(String),
        is_current: false,
      },
    ],
    meta: { page: 1, per_page: 25, total: 2 },
  });
  await app.advanceTime(12 * hour - 1);
  expect((await list(await app.signOwner(email))).data.map(({ id }) => id)).toEqual([body.data.session_id]);
});

test("an access token of a program lists the sessions, and is of none of them", async () => {
  const { email } = await createUserWithRole(app, "agent");
  const { id } = await begin(email);
  const { access_token } = await signIn(app, email);
  expect((await list(access_token)).data).toMatchObject([{ id, is_current: false }]);
});

test("a session that is ended ends with its access tokens and its stream, and no other does", async () => {
  const { email } = await createUserWithRole(app, "agent");
  const [lost, kept] = [await begin(email), await begin(email)];
  await using stream = await openStream(app, { token: lost.key });
  const answer = await app.call(auth.end_console_session, { id: lost.id }, { key: kept.key });
  expect(answer).toEqual({ data: { deleted: true } });
  expect(await expectFailure(list(lost.key))).toMatchObject(rejected);
  expect(await lost.browser.send("POST /console/session")).toMatchObject(ended);
  await expect.poll(() => stream.next()).toBeUndefined();
  expect((await list(kept.key)).data.map(({ id }) => id)).toEqual([kept.id]);
  const again = app.call(auth.end_console_session, { id: lost.id }, { key: kept.key });
  expect(await expectFailure(again)).toMatchObject({ status: 404, code: "console_session_not_found" });
});

test("all other sessions are ended at once", async () => {
  const { email } = await createUserWithRole(app, "agent");
  const [first, second, kept] = [await begin(email), await begin(email), await begin(email)];
  const stranger = await begin((await createUserWithRole(app, "agent")).email);
  const end = (key: string) => app.call(auth.end_other_console_sessions, {}, { key });
  expect(await end(kept.key)).toEqual({ data: { ended: 2 } });
  for (const { key, browser } of [first, second]) {
    expect(await expectFailure(list(key))).toMatchObject(rejected);
    expect(await browser.send("POST /console/session")).toMatchObject(ended);
  }
  expect((await kept.browser.send("POST /console/session")).status).toBe(200);
  expect((await list(stranger.key)).data).toHaveLength(1);
  expect(await end(kept.key)).toEqual({ data: { ended: 0 } });
  // The token of a program belongs to no session of the console.
  expect(await end((await signIn(app, email)).access_token)).toEqual({ data: { ended: 1 } });
});

test("another person's session is not found, also for an owner", async () => {
  const { email } = await createUserWithRole(app, "agent");
  const { id, key } = await begin(email);
  const other = await begin((await createUserWithRole(app, "agent")).email);
  for (const stranger of [other.key, await app.signOwner()]) {
    const ending = app.call(auth.end_console_session, { id }, { key: stranger });
    expect(await expectFailure(ending)).toMatchObject({ status: 404, code: "console_session_not_found" });
  }
  expect((await list(key)).data).toMatchObject([{ id }]);
});

test("a session that ended with the password is neither listed nor ended", async () => {
  const { id: user, email } = await createUserWithRole(app, "agent");
  const { id } = await begin(email);
  await app.call(users.update_user, { id: user, password: testPassword });
  const { access_token: key } = await signIn(app, email);
  expect((await list(key)).data).toEqual([]);
  const ending = app.call(auth.end_console_session, { id }, { key });
  expect(await expectFailure(ending)).toMatchObject({ code: "console_session_not_found" });
});

test.each([
  [firefox, "Firefox on Linux"],
  [safari, "Safari on iPhone"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Chrome on macOS",
  ],
  [
    "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
    "Samsung Internet on Android",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
    "Safari on macOS",
  ],
  ["Mozilla/5.0 (Linux; Android 15) Something/1.0", "Android"],
  ["curl/8.5.0", null],
])("a browser that says %s is %s", async (userAgent, name) => {
  const { email } = await createUserWithRole(app, "agent");
  const headers = { "user-agent": userAgent };
  const { body } = await openLink(openBrowser(app), await createToken(app, email), { headers });
  expect((await list(body.data.access_token)).data).toMatchObject([{ browser: name }]);
});
