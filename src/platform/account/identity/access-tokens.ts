/**
 * Access tokens: JWTs signed with HS256, valid for 15 minutes; `kid` identifies the secret, `sid` the
 * session.
 */
import { createHash, createSecretKey, type KeyObject } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import { fail } from "../../../../tools/errors.ts";
import type { Session, World } from "../../foundation/kernel/index.ts";
import { type AppSecrets, secretsOf } from "../../foundation/sealing/index.ts";

export const accessTokenSeconds = 15 * 60;

const issuer = "tidings";
const audience = "tidings:access";

type SigningContext = AppSecrets & Pick<World, "now">;

export async function signAccessToken(
  world: SigningContext,
  { organization_id, user_id, session_version, family_id }: Session,
): Promise<string> {
  const now = Math.floor(world.now().getTime() / 1000);
  return new SignJWT({ org: organization_id, ver: session_version, sid: family_id })
    .setProtectedHeader({ alg: "HS256", kid: kidOf(world.secret) })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(user_id)
    .setIssuedAt(now)
    .setExpirationTime(now + accessTokenSeconds)
    .sign(keyOf(world.secret));
}

/** @throws Failure `credential_invalid` if the token is forged, expired or not an access token. */
export async function readAccessToken(
  world: SigningContext,
  token: string,
): Promise<Session & { readonly expires_at: string }> {
  try {
    const { payload } = await jwtVerify(token, ({ kid }) => keyOf(findSecret(world, kid)), {
      algorithms: ["HS256"],
      issuer,
      audience,
      currentDate: world.now(),
    });
    return {
      user_id: String(payload.sub),
      organization_id: String(payload.org),
      session_version: Number(payload.ver ?? 0),
      family_id: typeof payload.sid === "string" ? payload.sid : null,
      expires_at: new Date((payload.exp ?? 0) * 1000).toISOString(),
    };
  } catch (cause) {
    throw fail("credential_invalid", {}, cause);
  }
}

/** The secret in use, or the previous secret, with which tokens stay valid until they expire. */
function findSecret(secrets: AppSecrets, kid: string | undefined): string {
  const match = secretsOf(secrets).find((secret) => kidOf(secret) === kid);
  if (match === undefined) {
    throw new Error("No secret has the kid of this token");
  }
  return match;
}

function kidOf(secret: string): string {
  return createHash("sha256").update(`kid:${secret}`).digest("base64url").slice(0, 8);
}

function keyOf(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret));
}
