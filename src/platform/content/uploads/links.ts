/**
 * Signed links to files: anyone with a link can read the file until the link expires.
 *
 * The signature covers the organization, the file and the expiry. Links are recognized by their path alone,
 * so that they are still recognized after the service moves to another host or port.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { World } from "../../foundation/kernel/index.ts";
import { secretsOf } from "../../foundation/sealing/index.ts";

/** The maximum of a presigned S3 URL; both kinds of links have the same lifetime. */
export const linkLifetimeSeconds = 7 * 24 * 3600;

/** A file's key in the store, `organization/name`; also the end of its link. */
export type FileKey = `${string}/${string}`;

export interface LinkQuery {
  readonly expires?: string | undefined;
  readonly signature?: string | undefined;
}

export function createLink(world: World, key: string, now: Date): { url: string; expires_at: string } {
  const expires = Math.floor(now.getTime() / 1000) + linkLifetimeSeconds;
  const query = new URLSearchParams({
    expires: String(expires),
    signature: sign(world.secret, key, expires),
  });
  return {
    url: `${world.addresses.service()}/files/${key}?${query}`,
    expires_at: new Date(expires * 1000).toISOString(),
  };
}

/** A link for a channel, to the store itself if it has presigned URLs. */
export async function createChannelLink(world: World, key: string): Promise<string> {
  return (await world.storage.presign(key, linkLifetimeSeconds)) ?? createLink(world, key, world.now()).url;
}

/** The seconds until a link expires; 0 if it has expired or its signature is wrong. */
export function linkSecondsLeft(
  world: World,
  key: string,
  { expires = "", signature = "" }: LinkQuery,
): number {
  if (!/^\d{1,12}$/.test(expires)) {
    return 0;
  }
  const received = Buffer.from(signature);
  const isValid = secretsOf(world).some((secret) => {
    const expected = Buffer.from(sign(secret, key, Number(expires)));
    return expected.length === received.length && timingSafeEqual(expected, received);
  });
  return isValid ? Math.max(0, Math.floor(Number(expires) - world.now().getTime() / 1000)) : 0;
}

/** The key in a link to one of our files; undefined for any other URL. */
export function fileKeyFromUrl(url: string): { organization: string; key: FileKey } | undefined {
  const { pathname } = new URL(url);
  const [, organization = "", name = ""] = /\/files\/(org_[\w-]{1,64})\/([\w-]{32})$/.exec(pathname) ?? [];
  return name === "" ? undefined : { organization, key: `${organization}/${name}` };
}

/**
 * The address of one of our files in the form in which it is stored: without a signature it gives no access,
 * but is still recognized.
 */
export function removeSignature(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** The prefix separates these signatures from others made with the same secret. */
function sign(secret: string, key: string, expires: number): string {
  return createHmac("sha256", secret).update(`file\n${key}\n${expires}`).digest("base64url");
}
