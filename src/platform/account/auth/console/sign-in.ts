/** Signs a person in to the console, and describes a session to the page. */
import { ConsoleSession, auth as contract } from "../../../../../tools/auth.ts";
import type { Queries } from "../../../../database/database.ts";
import type { ModuleRoute, Transaction, World } from "../../../foundation/kernel/index.ts";
import { accessTokenSeconds, roleScopes, signAccessToken } from "../../identity/index.ts";
import { getOrganization } from "../../organization/index.ts";
import { toAgent, type VerifiedUser } from "../credentials.ts";
import { readCookies, setCookie } from "./cookie.ts";
import {
  endConsoleSession,
  findConsoleSession,
  type LiveSession,
  longestMs,
  type SessionBeginning,
  startConsoleSession,
} from "./sessions.ts";

export type LoginRecord = ReturnType<World["acts"]["begin"]>;

/** The act is recorded like one of the operation, which does the same for programs. */
export function recordLogin(world: World, input: unknown): LoginRecord {
  const operation = contract.login;
  return world.acts.begin({ name: "login", operation, tool: undefined, input, now: world.now() });
}

interface SignIn extends SessionBeginning {
  /** The live session of the browser, which ends because its cookie is replaced. */
  readonly previous: LiveSession | undefined;
  readonly record: LoginRecord;
}

/** Tokens are stored in no cache. */
export const uncached = { "cache-control": "no-store" };

interface SignedIn {
  /** For the cookie; undefined if the session goes on that the browser has. */
  readonly secret: string | undefined;
  readonly body: ReturnType<(typeof ConsoleSession)["parse"]>;
}

export async function signInToConsole(
  tx: Transaction,
  world: World,
  { user, previous, record, ...beginning }: SignIn & { readonly user: VerifiedUser },
): Promise<SignedIn> {
  const now = world.now();
  if (previous) {
    await endConsoleSession(tx, previous, now);
  }
  const { id, secret } = await startConsoleSession(tx, user, { ...beginning, now });
  const { signed_in_by } = beginning;
  const body = await describeConsoleSession(tx, world, { ...user, id, user_id: user.id, signed_in_by });
  record.identify(toAgent(user, id));
  record.writeWith(tx, { status: 200, body });
  return { secret, body };
}

/** The answer to a sign-in. */
export function toAnswer(
  world: World,
  { secret, body }: SignedIn,
): Awaited<ReturnType<ModuleRoute["handle"]>> {
  const headers = {
    ...uncached,
    ...(secret === undefined ? {} : { "set-cookie": setCookie(world, secret, longestMs / 1000) }),
  };
  return { status: 200, headers, body };
}

/** The live session of the cookie; undefined without one. */
export async function readConsoleCookie(
  db: Queries,
  world: World,
  header: string | undefined,
): Promise<LiveSession | undefined> {
  const secrets = readCookies(world, header);
  return secrets.length === 0 ? undefined : findConsoleSession(db, secrets, world.now());
}

/** The answer to the page, with a new access token. */
export async function describeConsoleSession(
  db: Queries,
  world: World,
  session: Omit<LiveSession, "suspended_at">,
) {
  const { id, organization_id, user_id, email, name, role, session_version, signed_in_by } = session;
  const begin = Math.floor(world.now().getTime() / 1000);
  const access_token = await signAccessToken(world, {
    organization_id,
    user_id,
    session_version,
    family_id: id,
  });
  const scopes = roleScopes[role];
  return ConsoleSession.parse({
    data: {
      access_token,
      expires_at: new Date((begin + accessTokenSeconds) * 1000).toISOString(),
      session_id: id,
      signed_in_by,
      user: { id: user_id, email, name, role, scopes },
      organization: await getOrganization(db, organization_id),
      assistant_command: scopes.includes("tokens:create") ? world.assistantCommand : null,
    },
  });
}
