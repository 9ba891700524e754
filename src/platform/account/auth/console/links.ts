/**
 * Links that sign a person in to the console: once, within 10 minutes, in every process of the service.
 *
 * The token stands in the fragment of the link, which browsers send to no server. Only its hash is stored. A
 * link ends with the password of its person and when the person is deactivated.
 */
import { ofOrganization } from "../../../../database/query/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import { hashSecret, randomSecret } from "../../identity/index.ts";
import type { VerifiedUser } from "../credentials.ts";

const linkMs = 10 * 60_000;

export interface SignInLink {
  readonly token: string;
  readonly expires_at: string;
}

export async function createSignInLink(
  tx: Transaction,
  user: Pick<VerifiedUser, "organization_id" | "id" | "session_version">,
  now: Date,
): Promise<SignInLink> {
  const link = { token: randomSecret(), expires_at: new Date(now.getTime() + linkMs).toISOString() };
  await tx
    .insertInto("sign_in_links")
    .values({
      organization_id: user.organization_id,
      hash: hashSecret(link.token),
      user_id: user.id,
      session_version: user.session_version,
      created_at: now.toISOString(),
      expires_at: link.expires_at,
    })
    .execute();
  return link;
}

/**
 * Uses the link up, unless the transaction is rolled back, and returns its person; undefined if there is no
 * such link any more.
 */
export async function takeSignInLink(
  tx: Transaction,
  token: string,
  now: Date,
): Promise<VerifiedUser | undefined> {
  const link = await tx
    .deleteFrom("sign_in_links")
    .where("hash", "=", hashSecret(token))
    .where("expires_at", ">", now.toISOString())
    .returning(["organization_id", "user_id", "session_version"])
    .executeTakeFirst();
  return (
    link &&
    ofOrganization(tx, link.organization_id)
      .selectFrom("users")
      .select(["organization_id", "id", "email", "name", "role", "session_version"])
      .where("id", "=", link.user_id)
      .where("session_version", "=", link.session_version)
      .where("is_active", "=", true)
      .executeTakeFirst()
  );
}
