/** Access tokens: signed with HS256, 15 minutes long. */
import { createSecretKey, type KeyObject } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import { fail } from "../../../tools/failure.ts";
import type { World } from "./world.ts";

export const accessTokenSeconds = 15 * 60;

const issuer = "tidings";
const audience = "tidings:access";

export async function signAccessToken(
  world: World,
  user: { id: string; organization_id: string },
): Promise<string> {
  const now = Math.floor(world.now().getTime() / 1000);
  return new SignJWT({ org: user.organization_id })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(user.id)
    .setIssuedAt(now)
    .setExpirationTime(now + accessTokenSeconds)
    .sign(keyOf(world));
}

/** @throws Failure `credential_invalid` for a token that is forged, expired or of another kind. */
export async function readAccessToken(world: World, token: string) {
  try {
    const { payload } = await jwtVerify(token, keyOf(world), {
      algorithms: ["HS256"],
      issuer,
      audience,
      currentDate: world.now(),
    });
    return {
      user_id: String(payload.sub),
      organization_id: String(payload.org),
      expires_at: new Date((payload.exp ?? 0) * 1000).toISOString(),
    };
  } catch (cause) {
    throw fail("credential_invalid", {}, cause);
  }
}

function keyOf(world: World): KeyObject {
  return createSecretKey(Buffer.from(world.secret));
}
