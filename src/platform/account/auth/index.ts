/** Sign-in: access tokens, refresh tokens, and the description of the caller's credential. */
import { auth as contract } from "../../../../tools/auth.ts";
import { fail } from "../../../../tools/errors.ts";
import { newId } from "../../../database/id.ts";
import { sqlState } from "../../../database/outage/index.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import {
  defineRetentionJob,
  implement,
  type Transaction,
  type World,
} from "../../foundation/kernel/index.ts";
import {
  accessTokenSeconds,
  hashPassword,
  hashSecret,
  randomSecret,
  requireActiveOrganization,
  signAccessToken,
} from "../identity/index.ts";
import {
  authorityChanged,
  endAllAccessTokens,
  replaceEmail,
  replaceName,
  replacePassword,
} from "../users.ts";
import {
  consoleRoutes,
  endConsoleSessionsOf,
  endOtherSessions,
  endOwnSession,
  listOwnSessions,
  requireSession,
} from "./console/index.ts";
import { toAgent, type VerifiedUser, verifyCredentials } from "./credentials.ts";

export { authenticate, findPerson } from "./authenticate.ts";
export { createSignInLink } from "./console/index.ts";
export { findEndedCallers } from "./ended-callers.ts";
export { requireRecentSignIn } from "./sessions.ts";

/** Another user, of any organization, has the e-mail address. */
const uniqueViolation = "23505";
const refreshSeconds = 7 * 24 * 3600;
/** A sign-in ends after this time, however often it is refreshed. */
const familySeconds = 30 * 24 * 3600;

/** Signs everybody out, in all organizations, and ends the links that sign in. */
export async function endAllSessions(tx: Transaction): Promise<void> {
  await tx.deleteFrom("refresh_tokens").execute();
  await tx.deleteFrom("console_sessions").execute();
  await tx.deleteFrom("sign_in_links").execute();
  await endAllAccessTokens(tx);
}

/**
 * Deletes the tokens of expired families: the tokens can no longer be refreshed, and their reuse need not be
 * detected. A session of the console is kept for a day more, because an access token is rejected only while
 * the row of its ended session exists.
 */
const deleteExpiredSessionsJob = defineRetentionJob({
  name: "session.forget",
  schedule: "47 * * * *",
  rules: [
    { table: "refresh_tokens", column: "family_expires_at", days: 0 },
    { table: "console_sessions", column: "expires_at", days: 1 },
    { table: "sign_in_links", column: "expires_at", days: 0 },
  ],
});

// It shows inboxes: the module inboxes implements it.
const { whoami: _, ...own } = contract;

export const auth = implement(own, {
  tables: ["refresh_tokens", "console_sessions", "sign_in_links"],
  operations: {
    async login(credentials, { world, now, once, record }) {
      const user = await verifyCredentials(world, credentials, record);
      const owner = { organization_id: user.organization_id, credential_id: user.id };
      return once(owner, async (tx) => {
        const refresh = await startFamily(tx, user, now);
        record.identify(toAgent(user, refresh.family_id));
        return { data: await createSession(world, user, refresh, now) };
      });
    },

    async change_password({ new_password, ...credentials }, { world, now, record }) {
      const verified = await verifyCredentials(world, credentials, record);
      const password_hash = await hashPassword(new_password);
      return world.database.transaction(async (tx) => {
        const user = await replacePassword(tx, verified, { password_hash, now });
        if (!user) {
          throw fail("login_failed");
        }
        const refresh = await startFamily(tx, user, now);
        const response = { data: await createSession(world, user, refresh, now) };
        record.identify(toAgent(user, refresh.family_id));
        record.writeWith(tx, { status: 200, body: response });
        return response;
      });
    },

    async change_email({ new_email, ...credentials }, { world, now, record }) {
      const verified = await verifyCredentials(world, credentials, record);
      const changing = world.database.transaction(async (tx) => {
        const user = await replaceEmail(tx, verified, { email: new_email, now });
        if (!user) {
          throw fail("login_failed");
        }
        const response = { data: user };
        record.writeWith(tx, { status: 200, body: response });
        return response;
      });
      return changing.catch((error) => {
        throw sqlState(error) === uniqueViolation
          ? fail("user_exists", { param: "new_email" }, error)
          : error;
      });
    },

    async update_profile({ name }, { tx, caller, now }) {
      return { data: await replaceName(tx, requireSession(caller), { name, now }) };
    },

    async refresh({ refresh_token }, { world, now, once, record }) {
      const hash = hashSecret(refresh_token);
      const token = await world.database.queries
        .selectFrom("refresh_tokens")
        .innerJoin("users", (join) =>
          join
            .onRef("users.organization_id", "=", "refresh_tokens.organization_id")
            .onRef("users.id", "=", "refresh_tokens.user_id"),
        )
        .select(["refresh_tokens.organization_id", "family_id", "user_id", "name"])
        .where("hash", "=", hash)
        .executeTakeFirst();
      if (!token) {
        throw fail("refresh_token_invalid");
      }
      record.identify(toAgent({ ...token, id: token.user_id }, token.family_id));
      await requireActiveOrganization(world.database.queries, token.organization_id);
      const owner = { organization_id: token.organization_id, credential_id: token.family_id };
      const session = await once(owner, async (tx) => {
        await lockFamilies(tx, token);
        const rotated = await rotateRefreshToken(tx, hash, now);
        return rotated && { data: await createSession(world, rotated.user, rotated.refresh, now) };
      });
      if (!session) {
        throw fail("refresh_token_reused");
      }
      return session;
    },

    async list_console_sessions(paging, { db, caller, now }) {
      return listOwnSessions(db, requireSession(caller), { ...paging, now });
    },

    async end_console_session({ id }, { tx, caller, now }) {
      await endOwnSession(tx, requireSession(caller), id, now);
      return { data: { deleted: true as const } };
    },

    async end_other_console_sessions(_, { tx, caller, now }) {
      return { data: { ended: await endOtherSessions(tx, requireSession(caller), now) } };
    },
  },
  jobs: [deleteExpiredSessionsJob],
  routes: consoleRoutes,
  hooks: [authorityChanged.handledBy(({ tx, now }, user) => endConsoleSessionsOf(tx, user, now))],
});

interface RefreshToken {
  readonly token: string;
  readonly family_id: string;
  readonly expires_at: string;
}

async function createSession(world: World, user: VerifiedUser, refresh: RefreshToken, now: Date) {
  return {
    access_token: await signAccessToken(world, {
      organization_id: user.organization_id,
      user_id: user.id,
      session_version: user.session_version,
      family_id: refresh.family_id,
    }),
    token_type: "Bearer" as const,
    expires_in: accessTokenSeconds,
    refresh_token: refresh.token,
    refresh_expires_in: Math.floor((Date.parse(refresh.expires_at) - now.getTime()) / 1000),
    user,
  };
}

function startFamily(tx: Transaction, user: VerifiedUser, now: Date): Promise<RefreshToken> {
  return issueRefreshToken(
    tx,
    user,
    { id: newId("ses", now), expires_at: addSeconds(now, familySeconds) },
    now,
  );
}

async function issueRefreshToken(
  tx: Transaction,
  user: VerifiedUser,
  family: { id: string; expires_at: string },
  now: Date,
): Promise<RefreshToken> {
  const token = `rt_${randomSecret()}`;
  const expires_at = [addSeconds(now, refreshSeconds), family.expires_at].sort()[0] ?? family.expires_at;
  await tx
    .insertInto("refresh_tokens")
    .values({
      organization_id: user.organization_id,
      id: newId("rft", now),
      user_id: user.id,
      family_id: family.id,
      session_version: user.session_version,
      hash: hashSecret(token),
      family_expires_at: family.expires_at,
      expires_at,
      created_at: now.toISOString(),
    })
    .execute();
  return { token, family_id: family.id, expires_at };
}

/**
 * Locks the token families of the user until the commit. Without the lock, a revocation misses a token that a
 * concurrent rotation has issued but not committed.
 */
async function lockFamilies(
  tx: Transaction,
  { organization_id, user_id }: { readonly organization_id: string; readonly user_id: string },
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .selectFrom("users")
    .select("id")
    .where("id", "=", user_id)
    .forNoKeyUpdate()
    .execute();
}

/**
 * Marks a refresh token as used and issues the next token of its family. A token that was used before may
 * have been stolen, so the whole family is revoked, including its access tokens. The revocation must commit,
 * so the function returns undefined and does not throw.
 */
async function rotateRefreshToken(tx: Transaction, hash: string, now: Date) {
  const current = await tx
    .selectFrom("refresh_tokens")
    .selectAll()
    .where("hash", "=", hash)
    .forUpdate()
    .executeTakeFirst();
  if (!current || current.revoked_at !== null) {
    throw fail("refresh_token_invalid");
  }
  const family = ofOrganization(tx, current.organization_id)
    .updateTable("refresh_tokens")
    .where("family_id", "=", current.family_id);
  if (current.used_at !== null) {
    await family.set({ revoked_at: now.toISOString() }).execute();
    return undefined;
  }
  if (Date.parse(current.expires_at) <= now.getTime()) {
    throw fail("refresh_token_invalid");
  }
  await family.set({ used_at: now.toISOString() }).where("id", "=", current.id).execute();
  const user = await ofOrganization(tx, current.organization_id)
    .selectFrom("users")
    .selectAll()
    .where("id", "=", current.user_id)
    .where("session_version", "=", current.session_version)
    .where("is_active", "=", true)
    .executeTakeFirst();
  if (!user) {
    throw fail("refresh_token_invalid");
  }
  const next = { id: current.family_id, expires_at: current.family_expires_at };
  return { user, refresh: await issueRefreshToken(tx, user, next, now) };
}

function addSeconds(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1000).toISOString();
}
