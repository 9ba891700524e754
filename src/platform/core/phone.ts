/** Phone numbers as the house keeps them: E.164, by the rules of each country. */
import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import { refuse } from "../../../tools/failure.ts";

/**
 * The E.164 form of a number that a caller wrote.
 * @throws Failure `invalid_phone_number` naming `field`.
 */
export function normalizePhone(text: string, field: string): string {
  const digits = text
    .normalize("NFKC")
    .trim()
    .replace(/^(?:tel:|whatsapp:)?(?:\+|00)?/i, "");
  const parsed = parsePhoneNumberFromString(`+${digits}`);
  // Possible and not valid: number plans change faster than any library's data.
  if (!parsed?.isPossible() || parsed.ext !== undefined) {
    throw refuse(field, "invalid_phone_number", { value: text });
  }
  return parsed.number;
}
