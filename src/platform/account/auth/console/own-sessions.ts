/** A signed-in person's own sessions of the console: their list, and their end. */

import { fail } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization, readPage } from "../../../../database/query/index.ts";
import type { Caller, Session, Transaction } from "../../../foundation/kernel/index.ts";

/**
 * The session of a signed-in person.
 * @throws Failure `person_required` for an API key.
 */
export function requireSession({ session }: Caller): Session {
  if (!session) {
    throw fail("person_required");
  }
  return session;
}

export async function listOwnSessions(
  db: Queries,
  session: Session,
  { now, ...paging }: { readonly page: number; readonly per_page: number; readonly now: Date },
) {
  const matches = ofOrganization(db, session.organization_id)
    .selectFrom("console_sessions")
    .select(["id", "browser", "signed_in_by", "created_at", "last_used_at", "expires_at"])
    .where("user_id", "=", session.user_id)
    // The others ended with the password.
    .where("session_version", "=", session.session_version)
    .where("ended_at", "is", null)
    .where("expires_at", ">", now.toISOString())
    .orderBy("last_used_at", "desc")
    .orderBy("id", "desc");
  const { rows, meta } = await readPage(matches, paging);
  return { data: rows.map((row) => ({ ...row, is_current: row.id === session.family_id })), meta };
}

/** @throws Failure `console_session_not_found`. */
export async function endOwnSession(tx: Transaction, session: Session, id: string, now: Date): Promise<void> {
  const { numUpdatedRows } = await endSessions(tx, session, now).where("id", "=", id).executeTakeFirst();
  if (numUpdatedRows === 0n) {
    throw fail("console_session_not_found");
  }
}

/** Returns how many have ended. */
export async function endOtherSessions(tx: Transaction, session: Session, now: Date): Promise<number> {
  const { numUpdatedRows } = await endSessions(tx, session, now)
    .where("id", "!=", session.family_id ?? "")
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

function endSessions(tx: Transaction, { organization_id, user_id, session_version }: Session, now: Date) {
  return ofOrganization(tx, organization_id)
    .updateTable("console_sessions")
    .set({ ended_at: now.toISOString() })
    .where("user_id", "=", user_id)
    .where("session_version", "=", session_version)
    .where("ended_at", "is", null)
    .where("expires_at", ">", now.toISOString());
}
