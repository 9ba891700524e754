/** The country whose rates apply to a recipient. */
import { getCountries, parsePhoneNumberFromString } from "libphonenumber-js/min";

/**
 * The ISO country of a number in E.164 form by its calling code. Null for a number without a country, such as
 * +800, and for a recipient without a number. A number that no country of its calling code has assigned
 * belongs to the code's main country, which is the United States for +1.
 */
export function marketOf(phone_number: string | null): string | null {
  const parsed = phone_number === null ? undefined : parsePhoneNumberFromString(phone_number);
  return parsed?.country ?? parsed?.getPossibleCountries()[0] ?? null;
}

/** Every country with phone numbers. */
export const allCountries: readonly string[] = getCountries();
