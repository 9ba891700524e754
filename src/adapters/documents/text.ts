/** Decodes the bytes of a text file. */
import { UnreadableError } from "./limits.ts";

/** Control characters that no text contains. Tab, line breaks and form feed are not among them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds them.
const controls = /[\0-\x08\x0e-\x1a\x1c-\x1f]/g;

/** @throws UnreadableError `not_text`. */
export function decodeText(bytes: Uint8Array, charset = "utf-8"): string {
  const text = decode(bytes, charset);
  // Broken exports leave a few control characters, which are removed later.
  if (text.includes("\0") || (text.match(controls)?.length ?? 0) > text.length / 100) {
    throw new UnreadableError("not_text", "It is not a text: it contains binary data.");
  }
  return text;
}

function decode(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch (cause) {
    const reason =
      cause instanceof RangeError ? `its character set ${charset} is unknown` : `it is not ${charset}`;
    throw new UnreadableError("not_text", `It is not a text that can be read: ${reason}. Save it as UTF-8.`);
  }
}
