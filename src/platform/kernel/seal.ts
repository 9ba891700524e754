/** Encrypts values that must not be readable in the database: AES-256-GCM under the app's secret. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** The secrets of the app. */
export interface AppSecrets {
  readonly secret: string;
  /** The secret before a rotation: what was signed or sealed under it stays valid. */
  readonly previousSecret: string | undefined;
}

/** The secret in use, followed by the previous one if there is one. */
export function secretsOf({ secret, previousSecret }: AppSecrets) {
  return previousSecret === undefined ? ([secret] as const) : ([secret, previousSecret] as const);
}

/** Returns `nonce.tag.content`, each in base64url. */
export function seal(secret: string, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret), nonce);
  const content = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return [nonce, cipher.getAuthTag(), content].map((part) => part.toString("base64url")).join(".");
}

/** @throws if none of the secrets opens it, or it was changed. */
export function unseal(secrets: readonly string[], sealed: string): string {
  const failures: unknown[] = [];
  for (const secret of secrets) {
    try {
      return decrypt(secret, sealed);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, "None of the secrets opens this sealed value");
}

function decrypt(secret: string, sealed: string): string {
  const [nonce, tag, content] = sealed.split(".").map((part) => Buffer.from(part, "base64url"));
  if (!nonce || !tag || !content) {
    throw new Error("The value does not have the form nonce.tag.content");
  }
  const decipher = createDecipheriv("aes-256-gcm", keyOf(secret), nonce).setAuthTag(tag);
  return Buffer.concat([decipher.update(content), decipher.final()]).toString("utf8");
}

function keyOf(secret: string): Buffer {
  return createHash("sha256").update(`seal:${secret}`).digest();
}
