/** Encrypts values that must not be readable in the database, with AES-256-GCM and the app's secret. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { SealedText } from "../../../database/schema/index.ts";

/** The secrets for signatures. */
export interface AppSecrets {
  readonly secret: string;
  /** The secret before a rotation. Values that were signed or sealed with it stay valid. */
  readonly previousSecret: string | undefined;
}

/** The secrets that open sealed values. */
export interface SealingSecrets extends AppSecrets {
  /**
   * The secret in the database. It signs nothing once another secret is configured, because anyone who can
   * read the database could sign with it. It still opens values that a process with an older configuration
   * may have sealed after the last start.
   */
  readonly generatedSecret: string;
}

/** The secret in use, followed by the previous secret if there is one. */
export function secretsOf({ secret, previousSecret }: AppSecrets) {
  return previousSecret === undefined ? ([secret] as const) : ([secret, previousSecret] as const);
}

/** All secrets, the secret in use first. */
export function sealSecretsOf(secrets: SealingSecrets): readonly string[] {
  return [...new Set([...secretsOf(secrets), secrets.generatedSecret])];
}

/** Returns `nonce.tag.content`, each in base64url. */
export function seal({ secret }: Pick<AppSecrets, "secret">, text: string): SealedText {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret), nonce);
  const content = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  const sealed = [nonce, cipher.getAuthTag(), content].map((part) => part.toString("base64url")).join(".");
  // `Sealed` is this text; the type exists only for the compiler.
  return sealed as unknown as SealedText;
}

/** @throws if no secret opens the value, or the value was changed. */
export function unseal(secrets: SealingSecrets, sealed: SealedText): string {
  const opened = tryUnseal(secrets, sealed);
  if (!opened) {
    throw new Error("None of the secrets opens this sealed value");
  }
  return opened.text;
}

/** Opens a sealed value; undefined if no secret opens it. */
export function tryUnseal(
  secrets: SealingSecrets,
  sealed: SealedText,
): { readonly text: string; readonly isCurrent: boolean } | undefined {
  for (const secret of sealSecretsOf(secrets)) {
    try {
      return { text: decrypt(secret, String(sealed)), isCurrent: secret === secrets.secret };
    } catch {
      // Another secret may open it.
    }
  }
  return undefined;
}

function decrypt(secret: string, sealed: string): string {
  const [nonce, tag, content] = sealed.split(".").map((part) => Buffer.from(part, "base64url"));
  if (!nonce || !tag || !content) {
    throw new Error("The value does not have the form nonce.tag.content");
  }
  const decipher = createDecipheriv("aes-256-gcm", keyOf(secret), nonce, { authTagLength: 16 }).setAuthTag(
    tag,
  );
  return Buffer.concat([decipher.update(content), decipher.final()]).toString("utf8");
}

function keyOf(secret: string): Buffer {
  return createHash("sha256").update(`seal:${secret}`).digest();
}
