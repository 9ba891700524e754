/** Ids: a prefix for the reader's eye, then a UUIDv7 in 26 letters and digits, so that they sort by time. */
import { V7Generator } from "uuidv7";

const generator = new V7Generator();
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** A new id, for example `con_06az…`; ids made later sort later, byte by byte. */
export function newId(prefix: string, now: Date): string {
  const { bytes } = generator.generateOrResetWithTs(now.getTime());
  return `${prefix}_${encode(bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n))}`;
}

/** What sorts before every id of this moment or later. */
export function lowestId(prefix: string, moment: Date): string {
  // A UUIDv7 begins with the milliseconds, in 48 of its 128 bits.
  return `${prefix}_${encode(BigInt(moment.getTime()) << 80n)}`;
}

/** Crockford's base 32: 128 bits in 26 characters, order kept. */
function encode(bits: bigint): string {
  let value = bits;
  let text = "";
  for (let place = 0; place < 26; place += 1) {
    text = alphabet.charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return text;
}
