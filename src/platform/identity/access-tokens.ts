/** Access tokens: signed with HS256 under the secret that their `kid` names, 15 minutes long. */
import { createHash, createSecretKey, type KeyObject } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import { fail } from "../../../tools/errors.ts";
import type { World } from "../kernel/index.ts";
import { secretsOf } from "../kernel/index.ts";

export const accessTokenSeconds = 15 * 60;

const issuer = "tidings";
const audience = "tidings:access";

type Secrets = Pick<World, "secret" | "previousSecret" | "now">;

export async function signAccessToken(
  world: Secrets,
  user: { id: string; organization_id: string; session_version: number },
): Promise<string> {
  const now = Math.floor(world.now().getTime() / 1000);
  return new SignJWT({ org: user.organization_id, ver: user.session_version })
    .setProtectedHeader({ alg: "HS256", kid: kidOf(world.secret) })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(user.id)
    .setIssuedAt(now)
    .setExpirationTime(now + accessTokenSeconds)
    .sign(keyOf(world.secret));
}

/** @throws Failure `credential_invalid` for a token that is forged, expired or of another kind. */
export async function readAccessToken(world: Secrets, token: string) {
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
      expires_at: new Date((payload.exp ?? 0) * 1000).toISOString(),
    };
  } catch (cause) {
    throw fail("credential_invalid", {}, cause);
  }
}

/** The secret in use, or the one before it, whose tokens live on until they expire. */
function findSecret(world: Secrets, kid: string | undefined): string {
  const found = secretsOf(world).find((secret) => kidOf(secret) === kid);
  if (found === undefined) {
    throw new Error("no secret of ours has this kid");
  }
  return found;
}

function kidOf(secret: string): string {
  return createHash("sha256").update(`kid:${secret}`).digest("base64url").slice(0, 8);
}

function keyOf(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret));
}
