/** Sessions: renewal, expiry and revocation, and limits on password guesses. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { readAccessToken, signAccessToken } from "../src/platform/account/identity/access-tokens.ts";
import { auth } from "../tools/auth.ts";
import { users } from "../tools/users.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import {
  createUserWithRole,
  requestLogin,
  type Session,
  signIn,
  testPassword,
  trustedProxyEnv,
} from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });

const day = 24 * 3_600_000;
const invalid = { status: 401, code: "refresh_token_invalid" };

const refresh = async ({ refresh_token }: Session) => (await app.call(auth.refresh, { refresh_token })).data;
const whoami = ({ access_token }: Session) => app.call(auth.whoami, {}, { key: access_token });

describe("a refresh token", () => {
  test("that is sent again with its idempotency key gets the same session, which stays valid", async () => {
    const { email } = await createUserWithRole(app, "agent");
    const session = await signIn(app, email);
    const repeat = () =>
      app.call(auth.refresh, { refresh_token: session.refresh_token }, { idempotencyKey: "lost answer" });
    const first = await repeat();
    expect(await repeat()).toEqual(first);
    expect((await refresh(first.data)).user.id).toBe(session.user.id);
    // The stored session is encrypted.
    const stored = await app.server.database.queries
      .selectFrom("idempotency")
      .select("body")
      .where("key", "=", "lost answer")
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(stored)).not.toContain(first.data.refresh_token);
  });

  test("that was used is rejected and ends its family also when the request has a key", async () => {
    const { email } = await createUserWithRole(app, "agent");
    const session = await signIn(app, email);
    const next = await refresh(session);
    const again = () =>
      app.call(auth.refresh, { refresh_token: session.refresh_token }, { idempotencyKey: "stolen" });
    expect(await expectFailure(again())).toMatchObject({ status: 401, code: "refresh_token_reused" });
    expect(await expectFailure(refresh(next))).toMatchObject(invalid);
  });

  test("ends after seven days", async () => {
    const { email } = await createUserWithRole(app, "agent");
    const session = await signIn(app, email);
    await app.advanceTime(7 * day - 1);
    const next = await refresh(session);
    await app.advanceTime(7 * day);
    expect(await expectFailure(refresh(next))).toMatchObject(invalid);
  });

  test("is renewed for at most thirty days, and returns its remaining time", async () => {
    const { email } = await createUserWithRole(app, "agent");
    let session = await signIn(app, email);
    const lasts = [session.refresh_expires_in];
    for (let times = 0; times < 4; times += 1) {
      await app.advanceTime(6 * day);
      session = await refresh(session);
      lasts.push(session.refresh_expires_in);
    }
    expect(lasts).toEqual([7, 7, 7, 7, 6].map((days) => days * 24 * 3600));
    await app.advanceTime(6 * day);
    expect(await expectFailure(refresh(session))).toMatchObject(invalid);
  });

  test("used twice at once ends its session, and no other", async () => {
    const { email } = await createUserWithRole(app, "agent");
    const stolen = await signIn(app, email);
    const other = await signIn(app, email);
    const outcomes = await Promise.allSettled([refresh(stolen), refresh(stolen)]);
    const [won] = outcomes.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const [lost] = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(lost).toMatchObject({ status: 401, code: "refresh_token_reused" });
    expect(await expectFailure(refresh(won ?? stolen))).toMatchObject(invalid);
    expect((await refresh(other)).user.email).toBe(email);
    expect((await whoami(other)).data.user?.email).toBe(email);
  });

  test("reused while the next one is being rotated ends also the one that is issued", {
    tags: "postgres",
  }, async () => {
    const { email } = await createUserWithRole(app, "agent");
    const used = await signIn(app, email);
    const current = await refresh(used);
    const { database } = app.server;
    const countWaiting = async () =>
      (
        await sql`
            select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          `.execute(database.queries)
      ).rows.length;
    const outcomes = await database.transaction(async (tx) => {
      // A new token refers to its user, so the rotation waits here before it commits.
      await sql`select from users where email = ${email} for update`.execute(tx);
      const rotation = refresh(current).catch(() => undefined);
      await expect.poll(countWaiting).toBe(1);
      const reuse = refresh(used).catch((error: unknown) => error);
      await expect.poll(countWaiting).toBe(2);
      return { rotation, reuse };
    });
    expect(await outcomes.reuse).toMatchObject({ code: "refresh_token_reused" });
    const issued = await outcomes.rotation;
    expect(await expectFailure(refresh(issued ?? current))).toMatchObject(invalid);
    expect(await expectFailure(whoami(issued ?? current))).toMatchObject({ status: 401 });
  });
});

describe.each([
  ["a new password", { password: "another long password" }],
  ["deactivation", { is_active: false }],
])("%s", (_, change) => {
  test("ends all sessions of the user at once, and of no other", async () => {
    const [one, other] = [
      await createUserWithRole(app, "supervisor"),
      await createUserWithRole(app, "supervisor"),
    ];
    const sessions = [await signIn(app, one.email), await signIn(app, one.email)];
    const untouched = await signIn(app, other.email);
    await app.call(users.update_user, { id: one.id, ...change });
    for (const session of sessions) {
      expect(await expectFailure(whoami(session))).toMatchObject({ status: 401, code: "credential_invalid" });
      expect(await expectFailure(refresh(session))).toMatchObject(invalid);
    }
    expect((await whoami(await refresh(untouched))).data.user?.id).toBe(other.id);
  });

  test("is not undone by reactivation", async () => {
    const { id, email } = await createUserWithRole(app, "agent");
    const session = await signIn(app, email);
    await app.call(users.update_user, { id, ...change });
    await app.call(users.update_user, { id, is_active: true });
    expect(await expectFailure(whoami(session))).toMatchObject({ status: 401 });
    expect(await expectFailure(refresh(session))).toMatchObject(invalid);
  });
});

test("after a password change the old password is rejected", async () => {
  const { id, email } = await createUserWithRole(app, "agent");
  await app.call(users.update_user, { id, password: "another long password" });
  expect((await requestLogin(app, email, testPassword)).status).toBe(401);
  await whoami(await signIn(app, email, "another long password"));
});

test("a sign-in that started with the old password does not survive its change", async () => {
  const { id, email } = await createUserWithRole(app, "agent");
  const change = () => app.call(users.update_user, { id, password: "another long password" });
  const [attempts] = await Promise.all([
    Promise.all(Array.from({ length: 6 }, () => requestLogin(app, email, testPassword))),
    change(),
  ]);
  for (const attempt of attempts.filter(({ status }) => status === 200)) {
    const { data } = (await attempt.json()) as { data: Session };
    expect(await expectFailure(whoami(data))).toMatchObject({ status: 401 });
    expect(await expectFailure(refresh(data))).toMatchObject(invalid);
  }
});

test("a changed role applies from the next request", async () => {
  const { id, email } = await createUserWithRole(app, "admin");
  const session = await signIn(app, email);
  expect((await whoami(session)).data.scopes).toContain("tokens:create");
  await app.call(users.update_user, { id, role: "agent" });
  expect((await whoami(session)).data).toMatchObject({ role: "agent" });
  expect((await whoami(session)).data.scopes).not.toContain("tokens:create");
});

describe("password guesses", () => {
  test("are rejected after five attempts from one address", async () => {
    const { email } = await createUserWithRole(app, "agent");
    const statuses: number[] = [];
    for (let tries = 0; tries < 7; tries += 1) {
      statuses.push((await requestLogin(app, `${tries}${email}`, "wrong", "198.51.100.1")).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect((await requestLogin(app, email, testPassword, "198.51.100.1")).status).toBe(429);
    expect((await requestLogin(app, email, testPassword)).status).toBe(200);
  });

  test("are rejected after ten attempts at one account, in any case and from any address", async () => {
    const { email } = await createUserWithRole(app, "agent");
    for (let tries = 0; tries < 10; tries += 1) {
      expect((await requestLogin(app, tries % 2 ? email : email.toUpperCase(), "wrong")).status).toBe(401);
    }
    const answer = await requestLogin(app, email, testPassword);
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("900");
  });

  test("do not lock out an address that signed in before", async () => {
    const { email } = await createUserWithRole(app, "agent");
    const home = "2001:db8:7:1::1";
    expect((await requestLogin(app, email, testPassword, home)).status).toBe(200);
    for (let tries = 0; tries < 10; tries += 1) {
      await requestLogin(app, email, "wrong");
    }
    expect((await requestLogin(app, email, testPassword)).status).toBe(429);
    expect((await requestLogin(app, email.toUpperCase(), testPassword, "2001:db8:7:1::2")).status).toBe(200);
    // The address is still limited, and unknown to other accounts.
    const statuses: number[] = [];
    for (let tries = 0; tries < 4; tries += 1) {
      statuses.push((await requestLogin(app, email, "wrong", home)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429]);
  });

  test("from a rejected address do not lock the account", async () => {
    const { email } = await createUserWithRole(app, "agent");
    for (let tries = 0; tries < 20; tries += 1) {
      await requestLogin(app, email, "wrong", "198.51.100.2");
    }
    expect((await requestLogin(app, email, testPassword)).status).toBe(200);
  });

  test("take as long for an unknown account", async () => {
    const { email } = await createUserWithRole(app, "agent");
    const times = { known: [] as number[], unknown: [] as number[] };
    for (let tries = 0; tries < 8; tries += 1) {
      times.unknown.push(await measureCpu(() => requestLogin(app, `unknown${email}`, "wrong")));
      times.known.push(await measureCpu(() => requestLogin(app, email, "wrong")));
    }
    // The hash alone takes 20 ms: without it an unknown account would be answered in a tenth of the time.
    expect(fastest(times.unknown)).toBeGreaterThan(fastest(times.known) / 2);
    expect(fastest(times.unknown)).toBeLessThan(fastest(times.known) * 2);
  });
});

test("a token names its signing secret; the previous secret is still accepted, and no other", async () => {
  const user = { user_id: "usr_1", organization_id: "org_1", session_version: 1, family_id: "ses_1" };
  const [old, next, other] = ["o", "n", "x"].map((letter) => letter.repeat(32)) as [string, string, string];
  const before = { secret: old, previousSecret: undefined, now: app.now };
  const after = { secret: next, previousSecret: old, now: app.now };
  const token = await signAccessToken(before, user);
  expect(await readAccessToken(after, token)).toMatchObject({ user_id: "usr_1", session_version: 1 });
  const fresh = await signAccessToken(after, user);
  expect(fresh.split(".")[0]).not.toBe(token.split(".")[0]);
  await expect(readAccessToken(before, fresh)).rejects.toMatchObject({ code: "credential_invalid" });
  const foreign = { secret: other, previousSecret: undefined, now: app.now };
  await expect(readAccessToken(foreign, token)).rejects.toMatchObject({ code: "credential_invalid" });
});

/**
 * The processor time, in microseconds: unlike the time on the clock, it does not depend on other processes.
 */
async function measureCpu(call: () => Promise<unknown>): Promise<number> {
  const begin = process.cpuUsage();
  await call();
  const { user, system } = process.cpuUsage(begin);
  return user + system;
}

/** The smallest time, since other load on the machine only adds to it. */
function fastest(times: readonly number[]): number {
  return Math.min(...times);
}
