/**
 * Finds the names of scripts and commands in a PDF file.
 *
 * A character of a name may be written as # and its code: /L#61unch is /Launch. /JS is so short that it
 * occurs in compressed data by chance, so it counts only before a possible value.
 */

/**
 * The longest part of a file that decides about a name: the name, white space, and the beginning of its
 * value.
 */
export const pdfActionLength = 144;

const slash = 0x2f;

/**
 * The first characters of the names, plain and escaped. They are checked first, because decoding text is
 * slow.
 */
const firstBytes = new Set(Buffer.from("JL#"));

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: PDF has other white space, and binary data has the rest.
/** The name up to the first delimiter: long enough for the ten characters of JavaScript, each escaped. */
const encodedName = /^[^\0\s()<>[\]{}/%]{0,30}/;

/** White space that is too long to occur by chance. */
const padding = /^[\0\s]{64}/;

/**
 * A reference, a comment, a text or a hexadecimal text. Texts must not have the characters that distinguish
 * binary data.
 */
const scriptValue =
  /^[\0\s]*(?:\d+[\0\s]+\d+[\0\s]+R|[(%](?:\xfe\xff|\xef\xbb\xbf|[^\0-\x08\x0e-\x1f\x7f()\\]{0,31}[()\\]|[^\0-\x08\x0e-\x1f\x7f()\\]{32})|<[\0\s\da-f>]{8})/i;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above.

/** Describes the first script or command in the bytes. */
export function findPdfAction(bytes: Buffer): string | undefined {
  for (let at = bytes.indexOf(slash); at >= 0; at = bytes.indexOf(slash, at + 1)) {
    const found = firstBytes.has(bytes[at + 1] ?? 0)
      ? readAction(bytes.toString("latin1", at + 1, at + pdfActionLength))
      : undefined;
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

function readAction(text: string): string | undefined {
  const [encoded = ""] = encodedName.exec(text) ?? [];
  const name = encoded.replace(/#([\da-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  );
  if (name.startsWith("Launch")) {
    return "a command that starts a program";
  }
  const value = text.slice(encoded.length);
  const isScript =
    name.startsWith("JavaScript") || (name === "JS" && (padding.test(value) || scriptValue.test(value)));
  return isScript ? "a script" : undefined;
}
