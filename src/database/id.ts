/** Ids: a readable prefix and a UUIDv7 in 26 characters; they sort by time. */
import { V7Generator } from "uuidv7";

const generator = new V7Generator();
const idBytes = 16;
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** A new id, for example `con_06az…`; later ids sort later, byte by byte. */
export function newId(prefix: string, now: Date): string {
  return `${prefix}_${encode(generator.generateOrResetWithTs(now.getTime()).bytes)}`;
}

/** An id that sorts before every id of this time or later. No id is older than 1970. */
export function lowestId(prefix: string, time: Date): string {
  const bytes = Buffer.alloc(idBytes);
  // A UUIDv7 begins with the milliseconds.
  bytes.writeUIntBE(Math.max(0, time.getTime()), 0, 6);
  return `${prefix}_${encode(bytes)}`;
}

/** Crockford's base 32: 128 bits, after two zero bits, in 26 characters that sort like the number. */
function encode(bytes: Uint8Array): string {
  let text = "";
  let rest = 0;
  let count = 2;
  for (const byte of bytes) {
    rest = (rest << 8) | byte;
    count += 8;
    while (count >= 5) {
      count -= 5;
      text += alphabet.charAt((rest >> count) & 31);
    }
    rest &= 31;
  }
  return text;
}
