/**
 * The signed-in person. A cookie, which scripts can't read, opens `/console/session` alone. That endpoint
 * gives an access token for the API, which is kept in memory and renewed before it expires.
 */
import { signal } from "@preact/signals";
import type { Scope } from "../../tools/contract/index.ts";
import { ServiceError } from "../service/errors.ts";
import { request } from "../service/request.ts";

interface Session {
  readonly access_token: string;
  readonly expires_at: string;
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly role: string;
    readonly scopes: readonly string[];
  };
  readonly organization: {
    readonly id: string;
    readonly name: string;
    readonly time_zone: string;
    /** ISO 4217. */
    readonly currency: string;
  };
  /** Starts the MCP server on this machine; null if the page may be open on another one. */
  readonly assistant_command: { readonly command: string; readonly args: readonly string[] } | null;
}

/** undefined while the page does not know yet; null if nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** Whether the signed-in person has the scope. */
export function holdsScope(scope: Scope): boolean {
  return session.value?.user.scopes.includes(scope) ?? false;
}

/** Shorter than the life of a token, for a clock that differs from the service's. */
const longestMs = 13 * 60_000;
const shortestMs = 30_000;

let renewal: Promise<void> | undefined;
let timer: number | undefined;

/**
 * Asks for a new access token.
 *
 * @throws ConnectionError; ServiceError unless the session has ended, which sets `session` to null
 */
export function renewSession(): Promise<void> {
  renewal ??= readSession().finally(() => {
    renewal = undefined;
  });
  return renewal;
}

async function readSession(): Promise<void> {
  try {
    await accept(await request("/console/session", { method: "POST" }));
  } catch (error) {
    if (error instanceof ServiceError && error.status === 401) {
      clearTimeout(timer);
      session.value = null;
      return;
    }
    throw error;
  }
}

async function accept(answer: Response): Promise<void> {
  const { data } = (await answer.json()) as { data: Session }; // the service's own endpoint
  session.value = data;
  const left = Date.parse(data.expires_at) - Date.now() - 60_000;
  clearTimeout(timer);
  timer = setTimeout(
    () => void renewSession().catch(renewLater),
    Math.min(Math.max(left, shortestMs), longestMs),
  );
}

function renewLater(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void renewSession().catch(renewLater), shortestMs);
}

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** @throws ServiceError, ConnectionError */
export function signIn(credentials: Credentials): Promise<void> {
  return acceptFrom("/console/login", credentials);
}

interface NewPassword extends Credentials {
  readonly new_password: string;
}

/**
 * Replaces the own password. All sessions of the person end, and this browser signs in with the new one. A
 * request that meets the end of the session meanwhile waits for the new one.
 *
 * @throws ServiceError `login_failed` for a wrong password; ConnectionError
 */
export async function changePassword({ email, password, new_password }: NewPassword): Promise<void> {
  await renewal;
  const changing = replacePassword({ email, password, new_password });
  renewal = changing
    .catch(() => undefined)
    .finally(() => {
      renewal = undefined;
    });
  await changing;
}

async function replacePassword({ new_password, ...credentials }: NewPassword): Promise<void> {
  await send("PUT", "/v1/auth/password", { ...credentials, new_password });
  try {
    await signIn({ email: credentials.email, password: new_password });
  } catch (error) {
    // The session of this browser has ended, too.
    clearTimeout(timer);
    session.value = null;
    throw error;
  }
}

interface SignInLink {
  readonly token: string;
  /** Whether another person's session may end, which this browser has. */
  readonly replaces_session?: boolean;
}

/** @throws ServiceError, ConnectionError */
export function signInByLink(link: SignInLink): Promise<void> {
  return acceptFrom("/console/link", link);
}

async function acceptFrom(path: string, body: object): Promise<void> {
  await accept(await send("POST", path, body));
}

function send(method: string, path: string, body: object): Promise<Response> {
  return request(path, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Ends the session in every tab of this browser. @throws ConnectionError */
export async function signOut(): Promise<void> {
  await request("/console/session", { method: "DELETE" });
  clearTimeout(timer);
  session.value = null;
}

/** @throws ServiceError `signed_out` if nobody is signed in. */
export async function getToken(): Promise<string> {
  if (session.value === undefined) {
    await renewSession();
  }
  if (!session.value) {
    throw new ServiceError(401, "signed_out", "Sign in again.");
  }
  return session.value.access_token;
}
