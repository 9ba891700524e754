/**
 * Finds the web addresses, mail addresses and phone numbers of a text in any script and notation, and
 * normalizes them.
 */

/** The full stops of other scripts that browsers accept in an address. In a text they end sentences. */
const wideDot =
  /[\u3002\uff61](?=(?:xn--[a-z0-9-]+|[a-z]{2,}|中国|中國|公司|网络|網絡|网址|香港|台湾|台灣|新加坡|コム|みんな)(?![a-z]))/gu;

const label = "[\\p{L}\\p{M}\\p{N}-]+";
const rest = "(?::\\d+)?(?:[/?#][^\\s<>()[\\]\"'“”]*)?";
/** Longer than any scheme in use. */
const scheme = "\\b[a-z][a-z0-9+.-]{0,30}:\\/\\/";
const beforeAt = "[\\p{L}\\p{M}\\p{N}._%+-]";
/** A host name has at most 253 characters, and the part before the @ of a mail address has at most 64. */
const user = `${beforeAt}{0,320}`;

/** The parts of an IPv6 address without brackets, and the characters that must not be next to the address. */
const group = "[0-9a-f]{1,4}";
const inWord = "[\\p{L}\\p{N}:]";

const addresses = new RegExp(
  [
    // An IPv6 address in brackets, also without a scheme.
    `(?:${scheme})?\\[[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*(?:%[^\\]\\s]*)?\\]${rest}`,
    // Without a scheme, an attempt in the middle of a word would find no more than the attempt at the word's
    // beginning, and take cubic time.
    `(?:(?:${scheme}|\\bmailto:|\\btel:)${user}|(?<!${beforeAt})${user})@?(?:${label}\\.)+[\\p{L}\\p{M}]{2,}${rest}`,
    `${scheme}[^\\s<>()[\\]"'“”]+`,
  ].join("|"),
  "gu",
);
const bareAddresses = new RegExp(
  [
    `(?<!${inWord})(?:${group}(?::${group})*)?::(?:${group}(?::${group})*)?(?!${inWord})`,
    `(?<!${inWord})(?:${group}:){7}${group}(?!${inWord})`,
  ].join("|"),
  "gu",
);
const phones = /\+?\d[\d\s().-]{5,}\d/g;

const schemeOf = /^(?:[a-z][a-z0-9+.-]*:(?!:))?(?:\/\/)?(?:www\.)?/;

export function linksOf(text: string): string[] {
  const plain = toAsciiDigits(text.normalize("NFKC").toLowerCase()).replace(wideDot, ".");
  return [
    ...[...(plain.match(addresses) ?? []), ...(plain.match(bareAddresses) ?? [])].map((one) =>
      one.replace(schemeOf, "").replace(/(?<![.,;:!?/])[.,;:!?/]+$/, ""),
    ),
    ...(plain.match(phones) ?? []).map((one) => one.replace(/\D/g, "")),
  ];
}

/** Converts digits of other scripts. Unicode orders them in blocks of ten, from zero to nine. */
function toAsciiDigits(text: string): string {
  return text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    let zero = digit.codePointAt(0) ?? 0;
    const code = zero;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) {
      zero -= 1;
    }
    return String((code - zero) % 10);
  });
}
