/** Ids in the forms that WhatsApp uses. */
import { createHash, randomBytes, randomInt } from "node:crypto";

/** Digits only, 15 of them: below 2^53, because webhooks have the ids of templates as numbers. */
export function newId(): string {
  return `${randomInt(1, 10)}${String(randomInt(0, 10 ** 14)).padStart(14, "0")}`;
}

/** The id of a message. Meta encodes the other party's number in it. */
export function newMessageId(number: string): string {
  const head = Buffer.from([0x1d, 0x04, 0x18, number.length]);
  return `wamid.${Buffer.concat([head, Buffer.from(number), randomBytes(16)]).toString("base64")}`;
}

export function newAccessToken(): string {
  return `EAA${randomBytes(60).toString("hex")}`;
}

/** Some calling codes, so that generated user ids begin with the likely country. */
const countries: readonly (readonly [code: string, country: string])[] = [
  ["1", "US"],
  ["7", "KZ"],
  ["27", "ZA"],
  ["33", "FR"],
  ["34", "ES"],
  ["39", "IT"],
  ["44", "GB"],
  ["49", "DE"],
  ["52", "MX"],
  ["54", "AR"],
  ["55", "BR"],
  ["61", "AU"],
  ["62", "ID"],
  ["65", "SG"],
  ["91", "IN"],
];

/** A business-scoped user id. The same number always has the same one. */
export function userIdOf(number: string): string {
  const [, country = "US"] = countries.find(([code]) => number.startsWith(code)) ?? [];
  const digits = BigInt(`0x${createHash("sha256").update(number).digest("hex").slice(0, 16)}`);
  return `${country}.${digits}`;
}

export const userIdPattern = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/;

/** A number without `+`, blanks, brackets and hyphens; undefined if the rest is no number. */
export function toDigits(number: string): string | undefined {
  const digits = number.replace(/[\s()+.-]/g, "");
  return /^[1-9]\d{4,14}$/.test(digits) ? digits : undefined;
}
