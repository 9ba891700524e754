/** People of a app: made with a role, and signed in from an address of their own, so that no limit stands between tests. */
import type { auth } from "../../tools/auth.ts";
import type { OutputOf } from "../../tools/contract/index.ts";
import { users } from "../../tools/users.ts";
import type { TestApp } from "./app.ts";

export type Session = OutputOf<typeof auth.login>["data"];
type Role = Session["user"]["role"];

export const testPassword = "a long enough password";

/** For a app in which `signIn` may say where it comes from. */
export const trustedProxyEnv = { TIDINGS_TRUSTED_PROXIES: "127.0.0.1" };

let made = 0;

/** A new person of the first organization. */
export async function createUserWithRole(app: TestApp, role: Role) {
  made += 1;
  const input = {
    email: `${role}.${made}@example.com`,
    name: `${role} ${made}`,
    role,
    password: testPassword,
  };
  const { data } = await app.call(users.create_user, input);
  return data;
}

/** The answer to a sign-in; from a new address each time, unless one is given. */
export async function requestLogin(app: TestApp, email: string, given: string, from?: string) {
  made += 1;
  return app.fetch("/v1/auth/login", {
    method: "POST",
    key: null,
    json: { email, password: given },
    headers: { "x-forwarded-for": from ?? `192.0.${made >> 8}.${made & 255}` },
  });
}

export async function signIn(app: TestApp, email: string, given = testPassword): Promise<Session> {
  const answer = await requestLogin(app, email, given);
  if (answer.status !== 200) {
    throw new Error(await answer.text());
  }
  return ((await answer.json()) as { data: Session }).data;
}
