/** People of a house: made with a role, and signed in from an address of their own, so that no limit stands between tests. */
import type { auth } from "../../tools/auth.ts";
import type { OutputOf } from "../../tools/contract/index.ts";
import { users } from "../../tools/users.ts";
import type { House } from "./house.ts";

export type Session = OutputOf<typeof auth.login>["data"];
type Role = Session["user"]["role"];

export const password = "a long enough password";

/** For a house in which `signIn` may say where it comes from. */
export const trustingEnv = { TIDINGS_TRUSTED_PROXIES: "127.0.0.1" };

let made = 0;

/** A new person of the first organization. */
export async function hire(house: House, role: Role) {
  made += 1;
  const input = { email: `${role}.${made}@example.com`, name: `${role} ${made}`, role, password };
  const { data } = await house.call(users.create_user, input);
  return data;
}

/** The answer to a sign-in; from a new address each time, unless one is given. */
export async function tryToSignIn(house: House, email: string, given: string, from?: string) {
  made += 1;
  return house.fetch("/v1/auth/login", {
    method: "POST",
    key: null,
    json: { email, password: given },
    headers: { "x-forwarded-for": from ?? `192.0.${made >> 8}.${made & 255}` },
  });
}

export async function signIn(house: House, email: string, given = password): Promise<Session> {
  const answer = await tryToSignIn(house, email, given);
  if (answer.status !== 200) {
    throw new Error(await answer.text());
  }
  return ((await answer.json()) as { data: Session }).data;
}
