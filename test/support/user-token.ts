/** Signs access tokens without a sign-in, which would count towards the limit of attempts. */

import type { App } from "../../src/app.ts";
import { signAccessToken } from "../../src/platform/account/identity/index.ts";

interface TokenParts {
  readonly database: App["database"];
  /** The configured secret; undefined if the one in the database is in use. */
  readonly secret: string | undefined;
  readonly email: string;
  readonly now: () => Date;
}

export async function signUserToken({ database, secret, email, now }: TokenParts): Promise<string> {
  const { queries } = database;
  const user = await queries
    .selectFrom("users")
    .select(["organization_id", "id as user_id", "session_version"])
    .where("email", "=", email)
    .executeTakeFirstOrThrow();
  const generated = await queries
    .selectFrom("settings")
    .select("value")
    .where("name", "=", "secret")
    .executeTakeFirstOrThrow();
  const secrets = { secret: secret ?? generated.value, previousSecret: undefined };
  return signAccessToken({ ...secrets, now }, { ...user, family_id: null });
}
