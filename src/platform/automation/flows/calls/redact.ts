/**
 * Hides secrets in the response of an endpoint: some endpoints echo requests, and variables are shown.
 *
 * A secret is hidden as a whole and in its parts, because an endpoint may show a token without "Bearer", or
 * the user of "user:password". Each is hidden in any case, and as encoded in URLs, JSON, HTML, base64 and
 * hexadecimal digits.
 */

/** Common words that are not secret in themselves. */
const schemes = new Set([
  "basic",
  "bearer",
  "digest",
  "token",
  "apikey",
  "key",
  "oauth",
  "negotiate",
  "hmac",
]);

const shown = "***";

/** A shorter part may stand inside other words, so it is only hidden as a whole word. */
const minInnerLength = 4;

/** The fewest characters of base64 that are searched at any place: fewer may match by chance. */
const minBase64Length = 6;

/** The most parts of one secret; the longest are taken. */
const maxParts = 20;

/**
 * The most parts of all secrets of a call: the time to search a response grows with them, and blocks the
 * process.
 */
const maxPartsOfCall = 100;

export interface Redactor {
  (text: string): string;
  /** Also hides the beginning of a secret at the end of a truncated text. */
  cut(text: string): string;
}

export function createRedactor(secrets: readonly string[]): Redactor {
  const limit = Math.min(maxParts, Math.floor(maxPartsOfCall / secrets.length));
  const parts = [...new Set(secrets.flatMap((secret) => partsOf(secret, limit)))];
  const forms = [...new Set(parts.flatMap(formsOf))];
  const inner = forms.filter(({ length }) => length >= minInnerLength);
  const words = [...forms.filter(({ length }) => length < minInnerLength), ...parts.map(toBase64)];
  const encoded = [...new Set(parts.flatMap(base64Of))].filter(({ length }) => length >= minBase64Length);
  const expression = toExpression(inner, words);
  const redact = (text: string) =>
    expression ? hideEncoded(text, encoded).replace(expression, shown) : text;
  const cut = (text: string) => {
    const start = Math.min(...inner.map((form) => findBeginning(text, form)));
    return start < text.length ? `${redact(text.slice(0, start))}${shown}` : redact(text);
  };
  return Object.assign(redact, { cut });
}

/** The secret, the parts between its separators, and the parts of its base64-decoded form. */
function partsOf(secret: string, limit: number): readonly string[] {
  const split = (text: string) => [text.trim(), ...text.split(/[\s:;,="']+/)];
  const own = split(secret);
  const decoded = own.flatMap((part) => {
    const text = /^[\w+/=-]{8,}$/.test(part) ? Buffer.from(part, "base64").toString("latin1") : "";
    return /^[\x20-\x7e]+$/.test(text) ? split(text) : [];
  });
  return [...new Set([...own, ...decoded])]
    .filter((part) => part !== "" && !schemes.has(part.toLowerCase()))
    .sort((one, other) => other.length - one.length)
    .slice(0, limit);
}

function formsOf(part: string): readonly string[] {
  const url = encodeURIComponent(part);
  const json = JSON.stringify(part).slice(1, -1);
  return [
    part,
    url,
    url.replaceAll("%20", "+"),
    json,
    // Some JSON encoders also escape the slash, and some escape the characters that are special in HTML.
    json.replaceAll("/", "\\/"),
    json.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`),
    part.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
    Buffer.from(part).toString("hex"),
  ];
}

/** The base64 characters that encode the part, for each offset at which it may begin. */
function base64Of(part: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(part)]);
    const text = bytes.toString("base64url");
    // The first characters also depend on the text before, and the last character on the text after.
    const inner = text.slice([0, 2, 3][offset], bytes.length % 3 === 0 ? undefined : -1);
    return [inner, inner.replaceAll("-", "+").replaceAll("_", "/")];
  });
}

function toBase64(part: string): string {
  return Buffer.from(part).toString("base64").replace(/=+$/, "");
}

/** Hides each run of base64 characters that contains one of `encoded`. */
function hideEncoded(text: string, encoded: readonly string[]): string {
  return text.replace(/[\w+/-]{6,}={0,2}/g, (run) =>
    encoded.some((one) => run.includes(one)) ? shown : run,
  );
}

/**
 * Returns undefined if there is nothing to hide. Words are matched only between characters other than letters
 * and digits.
 */
function toExpression(inner: readonly string[], words: readonly string[]): RegExp | undefined {
  const longestFirst = (texts: readonly string[]) =>
    [...new Set(texts)].sort((one, other) => other.length - one.length).map(escapePattern);
  const alternatives = [
    ...longestFirst(inner),
    ...longestFirst(words).map((word) => `(?<![a-z0-9])${word}(?![a-z0-9])`),
  ];
  return alternatives.length === 0 ? undefined : new RegExp(alternatives.join("|"), "gi");
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** Finds where the beginning of a secret starts at the end of a text; the text's length if there is none. */
function findBeginning(text: string, form: string): number {
  const [end, beginning] = [text.slice(-form.length).toLowerCase(), form.toLowerCase()];
  const head = beginning.slice(0, minInnerLength);
  for (let at = end.indexOf(head); at >= 0; at = end.indexOf(head, at + 1)) {
    if (beginning.startsWith(end.slice(at))) {
      return text.length - end.length + at;
    }
  }
  return text.length;
}
