/**
 * The cookie of a console session. Only the routes of the console get it.
 *
 * Cookies ignore ports, so the name has an id of the installation: two services on one host keep their own.
 */
import { createHmac } from "node:crypto";
import type { World } from "../../../foundation/kernel/index.ts";

type CookieWorld = Pick<World, "addresses" | "generatedSecret">;

/** The values of this service's cookie in a Cookie header, in which a name may stand several times. */
export function readCookies(world: CookieWorld, header: string | undefined): readonly string[] {
  const prefix = `${nameOf(world)}=`;
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(prefix)).map((pair) => pair.slice(prefix.length));
}

/** The Set-Cookie header that stores the secret. */
export function setCookie(world: CookieWorld, secret: string, seconds: number): string {
  return format(world, secret, seconds);
}

/** The Set-Cookie header that deletes the cookie. */
export function clearCookie(world: CookieWorld): string {
  return format(world, "", 0);
}

function format(world: CookieWorld, value: string, seconds: number): string {
  const attributes = ["HttpOnly", "SameSite=Strict", "Path=/console", `Max-Age=${seconds}`];
  return [`${nameOf(world)}=${value}`, ...attributes, ...(isEncrypted(world) ? ["Secure"] : [])].join("; ");
}

function nameOf(world: CookieWorld): string {
  // The secret in the database is the same in every process, and never changes.
  const id = createHmac("sha256", world.generatedSecret).update("console cookie").digest("hex").slice(0, 12);
  return `${isEncrypted(world) ? "__Secure-" : ""}tidings-${id}`;
}

function isEncrypted({ addresses }: CookieWorld): boolean {
  return addresses.service().startsWith("https:");
}
