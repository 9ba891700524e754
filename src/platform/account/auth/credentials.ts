/** Verifies the e-mail address and the password of a person, and names the person in the record of acts. */
import { fail } from "../../../../tools/errors.ts";
import type { Role } from "../../../ports/transport/caller.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { requireActiveOrganization, verifyPassword } from "../identity/index.ts";

export interface VerifiedUser {
  readonly organization_id: string;
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly session_version: number;
}

/**
 * The active user with this address and password. Checking an unknown address takes as long as checking a
 * wrong password.
 * @throws Failure `login_failed`; `organization_suspended`, after the password was verified.
 */
export async function verifyCredentials(
  world: World,
  { email, password }: { email: string; password: string },
  record: SignInRecord,
): Promise<VerifiedUser> {
  const user = await world.database.queries
    .selectFrom("users")
    .selectAll()
    .where((rows) => rows(rows.fn<string>("lower", ["email"]), "=", email.trim().toLowerCase()))
    .where("is_active", "=", true)
    .executeTakeFirst();
  const isCorrect = await verifyPassword(password, user?.password_hash);
  if (user) {
    record.identify(toAgent(user, null));
  }
  if (!user || !isCorrect) {
    throw fail("login_failed");
  }
  await requireActiveOrganization(world.database.queries, user.organization_id);
  return user;
}

export interface SignInRecord {
  identify(agent: ReturnType<typeof toAgent>): void;
}

/** The person in the record of acts. `session_id` is null if the sign-in has failed. */
export function toAgent(
  { organization_id, id, name }: Pick<VerifiedUser, "organization_id" | "id" | "name">,
  session_id: string | null,
) {
  return { organization_id, type: "user" as const, id, name, session_id };
}
