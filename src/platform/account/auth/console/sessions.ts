/**
 * Sessions of the console. A session is live while it is used every 12 hours, for at most 7 days, and while
 * its user has the same password and role and is active. Every process reads it from the database.
 */
import { type ExpressionBuilder, sql } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import { newId } from "../../../../database/id.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import { hashSecret, randomSecret } from "../../identity/index.ts";
import type { VerifiedUser } from "../credentials.ts";

const hourMs = 3_600_000;
const idleMs = 12 * hourMs;
export const longestMs = 7 * 24 * hourMs;

export interface StartedSession {
  readonly id: string;
  /** For the cookie. Only its hash is stored. */
  readonly secret: string;
}

/** How a session began. */
export interface SessionBeginning {
  readonly signed_in_by: "password" | "link";
  /** Like `Firefox on Linux`; null if it is unknown. */
  readonly browser: string | null;
}

export async function startConsoleSession(
  tx: Transaction,
  user: VerifiedUser,
  { signed_in_by, browser, now }: SessionBeginning & { readonly now: Date },
): Promise<StartedSession> {
  const started = { id: newId("ses", now), secret: randomSecret() };
  await tx
    .insertInto("console_sessions")
    .values({
      organization_id: user.organization_id,
      id: started.id,
      user_id: user.id,
      hash: hashSecret(started.secret),
      signed_in_by,
      browser,
      session_version: user.session_version,
      created_at: now.toISOString(),
      last_used_at: now.toISOString(),
      expires_at: new Date(now.getTime() + idleMs).toISOString(),
    })
    .execute();
  return started;
}

/** The live session of one of these secrets, with its user and the suspension of the organization. */
export async function findConsoleSession(db: Queries, secrets: readonly string[], now: Date) {
  return db
    .selectFrom("console_sessions")
    .innerJoin("users", (join) =>
      join
        .onRef("users.organization_id", "=", "console_sessions.organization_id")
        .onRef("users.id", "=", "console_sessions.user_id")
        .onRef("users.session_version", "=", "console_sessions.session_version"),
    )
    .innerJoin("organizations", "organizations.id", "console_sessions.organization_id")
    .select(["console_sessions.id", "console_sessions.organization_id", "console_sessions.signed_in_by"])
    .select(["users.id as user_id", "users.email", "users.name", "users.role", "users.session_version"])
    .select("organizations.suspended_at")
    .where("console_sessions.hash", "in", secrets.map(hashSecret))
    .where("users.is_active", "=", true)
    .where((row) => isLive(row, now))
    .orderBy("console_sessions.created_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

export type LiveSession = NonNullable<Awaited<ReturnType<typeof findConsoleSession>>>;

/** Begins its 12 hours again; returns false if it ended meanwhile. */
export async function touchConsoleSession(
  db: Queries,
  { organization_id, id }: Pick<LiveSession, "organization_id" | "id">,
  now: Date,
): Promise<boolean> {
  const idleEnd = new Date(now.getTime() + idleMs).toISOString();
  const { numUpdatedRows } = await ofOrganization(db, organization_id)
    .updateTable("console_sessions")
    .set({
      last_used_at: now.toISOString(),
      expires_at: sql`least(${idleEnd}::timestamptz, created_at + ${longestMs} * interval '1 millisecond')`,
    })
    .where("id", "=", id)
    .where((row) => isLive(row, now))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Its access tokens are rejected after the commit. */
export async function endConsoleSession(
  db: Queries,
  { organization_id, id }: Pick<LiveSession, "organization_id" | "id">,
  now: Date,
): Promise<void> {
  await ofOrganization(db, organization_id)
    .updateTable("console_sessions")
    .set({ ended_at: now.toISOString() })
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .execute();
}

/** Also when the page has shown what another role allows. */
export async function endConsoleSessionsOf(
  tx: Transaction,
  { organization, user_id }: { readonly organization: string; readonly user_id: string },
  now: Date,
): Promise<void> {
  await ofOrganization(tx, organization)
    .updateTable("console_sessions")
    .set({ ended_at: now.toISOString() })
    .where("user_id", "=", user_id)
    .where("ended_at", "is", null)
    .execute();
}

function isLive(row: ExpressionBuilder<Tables, "console_sessions">, now: Date) {
  return row.and([
    row("console_sessions.ended_at", "is", null),
    row("console_sessions.expires_at", ">", now.toISOString()),
  ]);
}
