/**
 * Looks up credentials, each in the queue of the organization to which it belonged before.
 *
 * Otherwise the look-ups of every organization wait in one queue for a database connection, and many requests of one
 * organization delay those of all others.
 */
import { createHash } from "node:crypto";
import type { Platform } from "../../platform/index.ts";
import { createBoundedMap } from "./bounded-map.ts";

type Authenticate = Platform["authenticate"];

export function createAuthenticator(platform: Pick<Platform, "authenticate" | "runFor">): Authenticate {
  /** By the hash of a credential. They select a queue; whether the credential is valid is looked up each time. */
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
