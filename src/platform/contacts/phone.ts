/** Phone numbers as the house keeps them: E.164, by the rules of each country. */
import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import { failField } from "../../../tools/errors.ts";

/**
 * The E.164 form of a number that a caller wrote.
 * @throws Failure `invalid_phone_number` naming `field`.
 */
export function normalizePhone(text: string, field: string): string {
  const digits = text
    .normalize("NFKC")
    .trim()
    .replace(/^(?:tel:|whatsapp:)?(?:\+|00)?/i, "");
  // As it is or, where that has gone out of use, as it is dialled today.
  const parsed = [`+${digits}`, phoneKey(`+${digits.replace(/\D/g, "")}`)]
    .map((number) => parsePhoneNumberFromString(number))
    .find((number) => number?.isPossible());
  // Possible and not valid: number plans change faster than any library's data.
  if (!parsed || parsed.ext !== undefined) {
    throw failField(field, "invalid_phone_number", { value: text });
  }
  return parsed.number;
}

/** Two spellings of one number: `written` becomes the key's `same`. */
interface Variant {
  readonly written: RegExp;
  readonly same: string;
}

/**
 * Countries in which a mobile number has two spellings in use, WhatsApp's often being the old one. Each rule
 * matches whole numbers of one exact length, so that it never touches a landline or a number of another plan.
 */
const variants: readonly Variant[] = [
  // Brazil: mobiles of eight digits, which began with 6 to 9, were given a 9 in front. Added here and never
  // taken away: without its 9, the mobile 9 2345-6789 would be the landline 2345-6789.
  { written: /^\+55([1-9]\d)([6-9]\d{7})$/, same: "+55$19$2" },
  // Argentina: a mobile is called from abroad with a 9 before its area, which begins with 1 to 3. Blocks of
  // numbers are given out once, to landlines or to mobiles, so without the 9 it is still nobody else's.
  { written: /^\+549([1-3]\d{9})$/, same: "+54$1" },
  // Mexico: until 2019 a mobile was called from abroad with a 1 before its ten digits, which are nobody else's.
  { written: /^\+521([2-9]\d{9})$/, same: "+52$1" },
];

/** The form of an E.164 number in which all its spellings are the same: to compare by, not to call. */
export function phoneKey(number: string): string {
  return variants.reduce((key, { written, same }) => key.replace(written, same), number);
}
