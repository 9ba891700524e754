/** Countries of phone numbers. */
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/min";
import { failField } from "../../../../tools/errors.ts";

/** The country of a number in E.164 form; null if the number has none, for example +800. */
export function countryOf(phone_number: string | null): CountryCode | null {
  return (phone_number && parsePhoneNumberFromString(phone_number)?.country) || null;
}

/** @throws Failure `unknown_country` naming `field`. */
export function requireCountry(country: string | null | undefined, field: string): void {
  if (country && toCountry(country) === undefined) {
    throw failField(field, "unknown_country", { value: country });
  }
}

/** Returns undefined for a country whose numbers are not known. */
export function toCountry(country: string | null | undefined): CountryCode | undefined {
  return country && isSupportedCountry(country) ? country : undefined;
}
