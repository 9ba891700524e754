/** Finds the web and mail addresses and phone numbers of a text, in any script and form, each in one form. */

/** The dots that browsers take for one in an address; in a text they end sentences. */
const wideDot =
  /[\u3002\uff61](?=(?:xn--[a-z0-9-]+|[a-z]{2,}|中国|中國|公司|网络|網絡|网址|香港|台湾|台灣|新加坡|コム|みんな)(?![a-z]))/gu;

const label = "[\\p{L}\\p{M}\\p{N}-]+";
const rest = "(?::\\d+)?(?:[/?#][^\\s<>()[\\]\"'“”]*)?";
/** Longer than any scheme that opens an address. */
const scheme = "\\b[a-z][a-z0-9+.-]{0,30}:\\/\\/";
const beforeAt = "[\\p{L}\\p{M}\\p{N}._%+-]";
/** A name of a host has at most 253 characters, and what stands before the @ of a mail address 64. */
const user = `${beforeAt}{0,320}`;

/** Of an address of IPv6 without brackets, and what it does not stand in. */
const group = "[0-9a-f]{1,4}";
const inWord = "[\\p{L}\\p{N}:]";

const addresses = new RegExp(
  [
    // With an address of IPv6, in brackets also without a scheme.
    `(?:${scheme})?\\[[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*(?:%[^\\]\\s]*)?\\]${rest}`,
    // Without a scheme, an attempt within a word would find no more than the one at its beginning, and take cubic time.
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

/** Digits of other scripts, which stand in tens, one block or more after the other. */
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
