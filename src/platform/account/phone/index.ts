/** Phone numbers: read in any notation, and compared. */
export { countryOf, requireCountry, toCountry } from "./country.ts";
export { hasCountryCode, type PhoneRegion, phoneKey, readPhone, searchDigits } from "./number.ts";

/** The kind of an address that is a phone number in E.164 form. */
export const phoneKind = "phone";
