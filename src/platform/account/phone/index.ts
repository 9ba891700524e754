/** Phone numbers: read in any notation, and compared. */
export { countryOf, requireCountry, toCountry } from "./country.ts";
export { hasCountryCode, type PhoneRegion, phoneKey, readPhone, searchDigits } from "./number.ts";
