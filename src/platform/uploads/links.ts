/**
 * Links to files: for whoever has one, until it expires.
 *
 * A link names the organization and the file, which are in its signature with its end. An address of ours
 * is known by its path alone, so that it stays known when the service moves to another host or port.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { World } from "../kernel/index.ts";
import { secretsOf } from "../kernel/index.ts";

/** The most that a presigned S3 address may last: both kinds of link live as long. */
export const linkSeconds = 7 * 24 * 3600;

/** A file's key in the store, `organization/name`: the end of its address too. */
export type FileKey = `${string}/${string}`;

export interface LinkQuery {
  readonly expires?: string | undefined;
  readonly signature?: string | undefined;
}

export function linkTo(world: World, key: string, now: Date): { url: string; expires_at: string } {
  const expires = Math.floor(now.getTime() / 1000) + linkSeconds;
  const query = new URLSearchParams({
    expires: String(expires),
    signature: sign(world.secret, key, expires),
  });
  return {
    url: `${world.addresses.service()}/files/${key}?${query}`,
    expires_at: new Date(expires * 1000).toISOString(),
  };
}

/** An address of the file for a channel: good from now on, and at the store itself where that has one. */
export async function freshLink(world: World, key: string): Promise<string> {
  return (await world.storage.link(key, linkSeconds)) ?? linkTo(world, key, world.now()).url;
}

/** How many seconds a link has left; 0 for one that has expired or was changed. */
export function secondsLeft(world: World, key: string, { expires = "", signature = "" }: LinkQuery): number {
  if (!/^\d{1,12}$/.test(expires)) {
    return 0;
  }
  const given = Buffer.from(signature);
  const isRight = secretsOf(world).some((secret) => {
    const right = Buffer.from(sign(secret, key, Number(expires)));
    return right.length === given.length && timingSafeEqual(right, given);
  });
  return isRight ? Math.max(0, Math.floor(Number(expires) - world.now().getTime() / 1000)) : 0;
}

/** The key in an address of one of our files; undefined for any other address. */
export function keyIn(url: string): { organization: string; key: FileKey } | undefined {
  const { pathname } = new URL(url);
  const [, organization = "", name = ""] = /\/files\/(org_[\w-]{1,64})\/([\w-]{32})$/.exec(pathname) ?? [];
  return name === "" ? undefined : { organization, key: `${organization}/${name}` };
}

/** Of its own kind: what signs a token never signs a link. */
function sign(secret: string, key: string, expires: number): string {
  return createHmac("sha256", secret).update(`file\n${key}\n${expires}`).digest("base64url");
}
