/**
 * Creates users with a role and signs them in, each from its own address so that rate limits do
 * not affect other tests.
 */
import type { auth } from "../../tools/auth.ts";
import type { OutputOf } from "../../tools/contract/index.ts";
import { users } from "../../tools/users.ts";
import { ownerEmail, ownerPassword, type TestApp } from "./app.ts";

export type Session = OutputOf<typeof auth.login>["data"];
type Role = Session["user"]["role"];

export const testPassword = "a long enough password";

/** Settings of an app that accepts the client address that `signIn` sends. */
export const trustedProxyEnv = { TIDINGS_TRUSTED_PROXIES: "127.0.0.1" };

let count = 0;

/** Creates a user of the first organization. */
export async function createUserWithRole(app: TestApp, role: Role) {
  count += 1;
  const input = {
    email: `${role}.${count}@example.com`,
    name: `${role} ${count}`,
    role,
    password: testPassword,
  };
  const { data } = await app.call(users.create_user, input);
  return data;
}

/** Returns the response to a sign-in; from a new address each time by default. */
export async function requestLogin(app: TestApp, email: string, password: string, from?: string) {
  count += 1;
  return app.fetch("/v1/auth/login", {
    method: "POST",
    key: null,
    json: { email, password },
    headers: { "x-forwarded-for": from ?? `192.0.${count >> 8}.${count & 255}` },
  });
}

export async function signIn(app: TestApp, email: string, password = testPassword): Promise<Session> {
  const answer = await requestLogin(app, email, password);
  if (answer.status !== 200) {
    throw new Error(await answer.text());
  }
  return ((await answer.json()) as { data: Session }).data;
}

/** Creates a key for a signed-in user, who can also grant `tokens:*`; by default the owner. */
export async function createUserKey(
  app: TestApp,
  scopes: readonly string[],
  accessToken?: string,
): Promise<string> {
  const token = accessToken ?? (await signIn(app, ownerEmail, ownerPassword)).access_token;
  const answer = await app.fetch("/v1/developer-access/api-keys", {
    method: "POST",
    key: null,
    headers: { authorization: `Bearer ${token}` },
    json: { name: "a user's", scopes },
  });
  return ((await answer.json()) as { data: { secret_key: string } }).data.secret_key;
}
