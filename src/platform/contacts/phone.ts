/** Phone numbers: their E.164 form, and the key under which they are compared. */
import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import { failField } from "../../../tools/errors.ts";

/**
 * The E.164 form of a number in any notation.
 * @throws Failure `invalid_phone_number` naming `field`.
 */
export function normalizePhone(text: string, field: string): string {
  const digits = text
    .normalize("NFKC")
    .trim()
    .replace(/^(?:tel:|whatsapp:)?(?:\+|00)?/i, "");
  // The second is for a form that is no longer in use: it is parsed as it is dialled today.
  const parsed = [`+${digits}`, phoneKey(`+${digits.replace(/\D/g, "")}`)]
    .map((number) => parsePhoneNumberFromString(number))
    .find((number) => number?.isPossible());
  // "Possible" rather than "valid": number plans change faster than any library's data.
  if (!parsed || parsed.ext !== undefined) {
    throw failField(field, "invalid_phone_number", { value: text });
  }
  return parsed.number;
}

/** Rewrites the numbers that match `pattern` to the canonical form of the same number. */
interface Variant {
  readonly pattern: RegExp;
  readonly canonical: string;
}

/**
 * Countries in which a mobile number has two forms in use, of which WhatsApp often uses the old one. Each rule
 * matches whole numbers of one exact length, so that it never changes a landline or a number of another plan.
 */
const variants: readonly Variant[] = [
  // Brazil: mobiles of eight digits, which began with 6 to 9, got a leading 9. The rule adds the 9 and never
  // removes it: without its 9, the mobile 9 2345-6789 would be the landline 2345-6789.
  { pattern: /^\+55([1-9]\d)([6-9]\d{7})$/, canonical: "+55$19$2" },
  // Argentina: from abroad a mobile is called with a 9 before its area code, which begins with 1 to 3. Each block
  // of numbers is assigned once, to landlines or to mobiles, so the number without the 9 is still unique.
  { pattern: /^\+549([1-3]\d{9})$/, canonical: "+54$1" },
  // Mexico: until 2019 a mobile was called from abroad with a 1 before its ten digits, which are unique.
  { pattern: /^\+521([2-9]\d{9})$/, canonical: "+52$1" },
];

/** One key for all forms of an E.164 number: to compare with, not to call. */
export function phoneKey(number: string): string {
  return variants.reduce((key, { pattern, canonical }) => key.replace(pattern, canonical), number);
}
