/** Seals what must be kept and may not be read from the database: AES-256-GCM under the house's secret. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** One JSON-able text, in three parts: nonce, tag, content. */
export function seal(secret: string, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret), nonce);
  const content = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return [nonce, cipher.getAuthTag(), content].map((part) => part.toString("base64url")).join(".");
}

/** @throws when it was sealed under none of the secrets, or changed. */
export function unseal(secrets: readonly string[], sealed: string): string {
  const failures: unknown[] = [];
  for (const secret of secrets) {
    try {
      return open(secret, sealed);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, "this was sealed under none of the secrets");
}

function open(secret: string, sealed: string): string {
  const [nonce, tag, content] = sealed.split(".").map((part) => Buffer.from(part, "base64url"));
  if (!nonce || !tag || !content) {
    throw new Error("this is nothing that was sealed");
  }
  const decipher = createDecipheriv("aes-256-gcm", keyOf(secret), nonce).setAuthTag(tag);
  return Buffer.concat([decipher.update(content), decipher.final()]).toString("utf8");
}

function keyOf(secret: string): Buffer {
  return createHash("sha256").update(`seal:${secret}`).digest();
}

/** The secrets of the app. */
export interface AppSecrets {
  readonly secret: string;
  /** The one that it replaced: what was signed or sealed under it is still read. */
  readonly previousSecret: string | undefined;
}

/** The secret in use, and after it the one that it replaced. */
export function secretsOf({ secret, previousSecret }: AppSecrets) {
  return previousSecret === undefined ? ([secret] as const) : ([secret, previousSecret] as const);
}
