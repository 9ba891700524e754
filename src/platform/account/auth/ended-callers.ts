/**
 * Finds callers, for calls that wait and streams, whose credential has ended, been suspended or got other
 * scopes or rules since they authenticated.
 */
import type { Queries } from "../../../database/database.ts";
import type { Role } from "../../../ports/transport/caller.ts";
import type { Caller, Session } from "../../foundation/kernel/index.ts";
import { findLiveKeys } from "../api-keys/index.ts";
import { isExpired } from "../identity/index.ts";
import { selectSessionUser } from "./sessions.ts";

/**
 * The callers whose credential would be rejected now, and the keys whose rules do not allow `operation` any
 * more. All callers must be of one organization.
 */
export async function findEndedCallers(
  db: Queries,
  callers: readonly Caller[],
  { now, operation }: { readonly now: Date; readonly operation?: string | undefined },
): Promise<ReadonlySet<Caller>> {
  const liveKeys = await findLiveKeys(
    db,
    callers.filter(({ session }) => session === null),
    { now, operation },
  );
  const sessions = callers.flatMap(({ credential, session }) =>
    session && !isExpired(credential, now) ? [session] : [],
  );
  const liveRoles = new Map<string, Role>();
  for (const session of new Map(sessions.map((one) => [nameOf(one), one])).values()) {
    const user = await selectSessionUser(db, session).executeTakeFirst();
    if (user?.suspended_at === null) {
      liveRoles.set(nameOf(session), user.role);
    }
  }
  // The scopes of a session follow from the role that the user had.
  const isLive = ({ credential, session, role }: Caller) =>
    session
      ? !isExpired(credential, now) && liveRoles.get(nameOf(session)) === role
      : liveKeys.has(credential.id);
  return new Set(callers.filter((caller) => !isLive(caller)));
}

function nameOf({ user_id, session_version, family_id }: Session): string {
  return `${user_id} ${session_version} ${family_id}`;
}
