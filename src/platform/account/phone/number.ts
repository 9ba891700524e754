/** Phone numbers: reading a written number, and the key by which numbers are compared. */
import { type CountryCode, type PhoneNumber, parsePhoneNumberFromString } from "libphonenumber-js/min";

/** How numbers without a country code are read. */
export interface PhoneRegion {
  /** Undefined: numbers without a country code are rejected. */
  readonly defaultCountry: CountryCode | undefined;
  /** The country of the organization's own number. Only for suggestions: a guess could reach a stranger. */
  readonly likelyCountry: CountryCode | undefined;
}

/** The number in E.164 form, or why it is not valid with suggested numbers. */
export type PhoneReading =
  | { readonly number: string; readonly reason?: undefined }
  | {
      readonly reason: string;
      /** The reason without the suggested numbers, which may be a person's numbers. */
      readonly rule: string;
      readonly suggestions: readonly string[];
    };

/** Whether a number has a country code, that is, begins with + or 00. */
export function hasCountryCode(text: string): boolean {
  return split(text).isInternational;
}

/** Reads a number in any notation. A number without a country code is never read as international. */
export function readPhone(text: string, { defaultCountry, likelyCountry }: PhoneRegion): PhoneReading {
  const { isInternational, rest } = split(text);
  if (isInternational) {
    const number = parseInternational(rest);
    return number === undefined ? reject(reasons.international, []) : { number };
  }
  const number = defaultCountry && parseNational(rest, defaultCountry);
  const prefixed = parsePhoneNumberFromString(`+${rest}`);
  if (number !== undefined) {
    // Some plans have numbers that begin with the country's own code: 49 30 901820 may be in Berlin or in
    // Norden.
    const other = prefixed?.isValid() && prefixed.country === defaultCountry ? prefixed.number : number;
    return other === number ? { number } : reject("It could be either of two numbers.", [other, number]);
  }
  const guesses = [likelyCountry && parsePhoneNumberFromString(rest, likelyCountry), prefixed];
  const guess = guesses.find((parsed) => parsed?.isValid())?.number;
  const reason = defaultCountry ? reasons.national(defaultCountry) : reasons.unknownCountry;
  return reject(reason, guess === undefined ? [] : [guess]);
}

function reject(rule: string, suggestions: readonly string[]): PhoneReading {
  const hint = suggestions.length === 0 ? "" : ` Perhaps ${suggestions.join(" or ")} is meant.`;
  return { reason: rule + hint, rule, suggestions };
}

const reasons = {
  international: "There is no number of this length with this country code.",
  national: (country: string) =>
    `It has no + with a country code, and is not a number of the default country, ${country}.`,
  unknownCountry: "It has no + with a country code, and there is no default_country.",
};

/**
 * The part of a number that people search for: the number without its country code, if the code is written.
 */
export function searchDigits(text: string, defaultCountry: CountryCode | undefined): string {
  const { isInternational, rest } = split(text);
  const parsed = isInternational ? undefined : parsePhoneNumberFromString(rest, defaultCountry);
  return parsed?.isPossible() ? parsed.nationalNumber : rest.replace(/\D/g, "");
}

/** Splits off the + or 00 of an international number. */
function split(text: string) {
  const number = text
    .normalize("NFKC")
    .trim()
    // A scheme, such as tel: in a link.
    .replace(/^[a-z]+:/i, "");
  const [prefix] = /^[\s(]*(?:\+|00)/.exec(number) ?? [];
  return { isInternational: prefix !== undefined, rest: number.slice(prefix?.length ?? 0) };
}

function parseInternational(rest: string): string | undefined {
  return toE164(readInternational(rest));
}

function* readInternational(rest: string): Generator<PhoneNumber | undefined> {
  yield parsePhoneNumberFromString(`+${rest}`);
  // For a form that is no longer in use: parses the number in the form that is dialled today.
  yield parsePhoneNumberFromString(phoneKey(`+${rest.replace(/\D/g, "")}`));
}

function parseNational(rest: string, country: CountryCode): string | undefined {
  const parsed = parsePhoneNumberFromString(rest, country);
  return toE164([parsed, parsed && parsePhoneNumberFromString(phoneKey(parsed.number))]);
}

/**
 * The first possible number. "Possible" rather than "valid": number plans change faster than any library's
 * data.
 */
function toE164(numbers: Iterable<PhoneNumber | undefined>): string | undefined {
  for (const number of numbers) {
    if (number?.isPossible()) {
      return number.ext === undefined ? number.number : undefined;
    }
  }
  return undefined;
}

/** Rewrites the numbers that match `pattern` to their canonical form. */
interface Variant {
  readonly pattern: RegExp;
  readonly canonical: string;
}

/**
 * Countries in which mobile numbers have two forms in use; channels often use the old form. Each rule
 * matches whole numbers of one exact length, so that it never changes a landline or a number of another plan.
 */
const variants: readonly Variant[] = [
  // Brazil: mobiles of eight digits, which began with 6 to 9, got a leading 9. The rule adds the 9 and never
  // removes it: without its 9, the mobile 9 2345-6789 would be the landline 2345-6789.
  { pattern: /^\+55([1-9]\d)([6-9]\d{7})$/, canonical: "+55$19$2" },
  // Argentina: from abroad a mobile is called with a 9 before its area code, which begins with 1 to 3. Each
  // block of numbers is assigned once, to landlines or to mobiles, so the number without the 9 is still
  // unique.
  { pattern: /^\+549([1-3]\d{9})$/, canonical: "+54$1" },
  // Mexico: until 2019 a mobile was called from abroad with a 1 before its ten digits, which are unique.
  { pattern: /^\+521([2-9]\d{9})$/, canonical: "+52$1" },
];

/** One key for all forms of an E.164 number. Use it to compare numbers, not to call them. */
export function phoneKey(number: string): string {
  return variants.reduce((key, { pattern, canonical }) => key.replace(pattern, canonical), number);
}
