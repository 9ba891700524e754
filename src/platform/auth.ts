/** Sign-in: access and refresh tokens, and what a credential is. */
import { auth as contract } from "../../tools/auth.ts";
import { fail } from "../../tools/errors.ts";
import type { Transaction } from "../database/database.ts";
import { newId } from "../database/id.ts";
import {
  accessTokenSeconds,
  hashPassword,
  hashSecret,
  isPassword,
  randomSecret,
  signAccessToken,
} from "./identity/index.ts";
import { implement, type ModuleJob, type Role, type World } from "./kernel/index.ts";

const refreshSeconds = 7 * 24 * 3600;
/** However often it is refreshed, a sign-in ends. */
const familySeconds = 30 * 24 * 3600;

interface User {
  readonly organization_id: string;
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly session_version: number;
}

/** A family that has ended can't be refreshed or reused any more. */
const forgetFamilies: ModuleJob<unknown> = {
  name: "session.forget",
  schedule: "47 * * * *",

  async run(_, world) {
    const { queries } = world.database;
    await queries
      .deleteFrom("refresh_tokens")
      .where("family_expires_at", "<", world.now().toISOString())
      .execute();
    return undefined;
  },
};

export const auth = implement(contract, {
  operations: {
    async login(given, { world, now }) {
      const user = await requirePerson(world, given);
      const refresh = await world.database.transaction((tx) => startFamily(tx, user, now));
      return { data: await session(world, user, refresh, now) };
    },

    async change_password({ new_password, ...given }, { world, now }) {
      const person = await requirePerson(world, given);
      const password_hash = await hashPassword(new_password);
      const { user, refresh } = await world.database.transaction(async (tx) => {
        const user = await changePassword(tx, person, password_hash, now);
        return { user, refresh: await startFamily(tx, user, now) };
      });
      return { data: await session(world, user, refresh, now) };
    },

    async refresh({ refresh_token }, { world, now }) {
      const used = await world.database.transaction((tx) => rotate(tx, refresh_token, now));
      if (used === "reused") {
        throw fail("refresh_token_reused");
      }
      return { data: await session(world, used.user, used.refresh, now) };
    },

    async whoami(_, { caller, db, organization, now }) {
      const { id, name } = await db
        .selectFrom("organizations")
        .select(["id", "name"])
        .where("id", "=", organization)
        .executeTakeFirstOrThrow();
      return {
        data: {
          organization: { id, name },
          credential: caller.credential,
          user: caller.user,
          role: caller.user?.role ?? null,
          scopes: [...caller.scopes],
          now: now.toISOString(),
        },
      };
    },
  },
  jobs: [forgetFamilies],
});

/** Who has this address and this password; it takes as long to find nobody. @throws Failure `login_failed`. */
async function requirePerson(world: World, { email, password }: { email: string; password: string }) {
  const user = await world.database.queries
    .selectFrom("users")
    .selectAll()
    .where((rows) => rows(rows.fn<string>("lower", ["email"]), "=", email.trim().toLowerCase()))
    .where("is_active", "=", true)
    .executeTakeFirst();
  const isRight = await isPassword(password, user?.password_hash);
  if (!user || !isRight) {
    throw fail("login_failed");
  }
  return user;
}

/** A password that was changed meanwhile is no longer the present one. @throws Failure `login_failed`. */
async function changePassword(tx: Transaction, person: User, password_hash: string, now: Date) {
  const user = await tx
    .updateTable("users")
    .set({ password_hash, session_version: person.session_version + 1, updated_at: now.toISOString() })
    .where("organization_id", "=", person.organization_id)
    .where("id", "=", person.id)
    .where("session_version", "=", person.session_version)
    .where("is_active", "=", true)
    .returningAll()
    .executeTakeFirst();
  if (!user) {
    throw fail("login_failed");
  }
  return user;
}

interface Refresh {
  readonly token: string;
  readonly expires_at: string;
}

async function session(world: World, user: User, refresh: Refresh, now: Date) {
  return {
    access_token: await signAccessToken(world, user),
    token_type: "Bearer" as const,
    expires_in: accessTokenSeconds,
    refresh_token: refresh.token,
    refresh_expires_in: Math.floor((Date.parse(refresh.expires_at) - now.getTime()) / 1000),
    user,
  };
}

function startFamily(tx: Transaction, user: User, now: Date): Promise<Refresh> {
  return issueRefreshToken(tx, user, { id: newId("ses", now), expires_at: after(now, familySeconds) }, now);
}

async function issueRefreshToken(
  tx: Transaction,
  user: User,
  family: { id: string; expires_at: string },
  now: Date,
): Promise<Refresh> {
  const token = `rt_${randomSecret()}`;
  const expires_at = [after(now, refreshSeconds), family.expires_at].sort()[0] ?? family.expires_at;
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
  return { token, expires_at };
}

/**
 * Uses a refresh token up and issues the next one of its family. A token that was used before means that
 * two hold it: the whole family is revoked, and that must commit, so it is answered and not thrown.
 */
async function rotate(tx: Transaction, token: string, now: Date) {
  const found = await tx
    .selectFrom("refresh_tokens")
    .selectAll()
    .where("hash", "=", hashSecret(token))
    .forUpdate()
    .executeTakeFirst();
  if (!found || found.revoked_at !== null) {
    throw fail("refresh_token_invalid");
  }
  const family = tx
    .updateTable("refresh_tokens")
    .where("organization_id", "=", found.organization_id)
    .where("family_id", "=", found.family_id);
  if (found.used_at !== null) {
    await family.set({ revoked_at: now.toISOString() }).execute();
    return "reused" as const;
  }
  if (Date.parse(found.expires_at) <= now.getTime()) {
    throw fail("refresh_token_invalid");
  }
  await family.set({ used_at: now.toISOString() }).where("id", "=", found.id).execute();
  const user = await tx
    .selectFrom("users")
    .selectAll()
    .where("organization_id", "=", found.organization_id)
    .where("id", "=", found.user_id)
    .where("session_version", "=", found.session_version)
    .where("is_active", "=", true)
    .executeTakeFirst();
  if (!user) {
    throw fail("refresh_token_invalid");
  }
  const next = { id: found.family_id, expires_at: found.family_expires_at };
  return { user, refresh: await issueRefreshToken(tx, user, next, now) };
}

function after(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1000).toISOString();
}
