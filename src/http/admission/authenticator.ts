/**
 * Looks up credentials. Each look-up waits in the queue of the organization to which the credential belonged
 * before.
 *
 * Otherwise all look-ups would wait in one queue for a database connection, and many requests of one
 * organization would delay look-ups of all other organizations.
 */
import { createHash } from "node:crypto";
import type { Platform } from "../../platform/index.ts";
import { createBoundedMap } from "./bounded-map.ts";

type Authenticate = Platform["authenticate"];

export function createAuthenticator(platform: Pick<Platform, "authenticate" | "runFor">): Authenticate {
  /**
   * Organizations by the hash of a credential. An organization selects only a queue: whether the credential
   * is valid is looked up each time.
   */
  const organizations = createBoundedMap<string>();

  return async (credential) => {
    const spelling = createHash("sha256").update(credential).digest("base64url");
    const organization = organizations.get(spelling);
    const lookUp = () => platform.authenticate(credential);
    const caller = await (organization === undefined ? lookUp() : platform.runFor(organization, lookUp));
    if (organization === undefined) {
      organizations.set(spelling, caller.organization_id);
    }
    return caller;
  };
}
