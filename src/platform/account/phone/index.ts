/** Phone numbers: read in any notation, and compared. */
export { getPhoneRegion, normalizePhone, requireCountry } from "./normalize.ts";
export { hasCountryCode, type PhoneRegion, phoneKey, readPhone, searchDigits } from "./number.ts";
