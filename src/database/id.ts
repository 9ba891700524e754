/** Ids: a readable prefix and a UUIDv7 in 26 characters; they sort by time. */
import { V7Generator } from "uuidv7";

const generator = new V7Generator();
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** A new id, for example `con_06az…`; later ids sort later, byte by byte. */
export function newId(prefix: string, now: Date): string {
  const { bytes } = generator.generateOrResetWithTs(now.getTime());
  return `${prefix}_${encode(bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n))}`;
}

/** Sorts before every id of this time or later. */
export function lowestId(prefix: string, time: Date): string {
  // A UUIDv7 begins with the milliseconds, in 48 of its 128 bits.
  return `${prefix}_${encode(BigInt(time.getTime()) << 80n)}`;
}

/** Crockford's base 32: 128 bits in 26 characters that sort like the number. */
function encode(bits: bigint): string {
  let value = bits;
  let text = "";
  for (let digit = 0; digit < 26; digit += 1) {
    text = alphabet.charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return text;
}
