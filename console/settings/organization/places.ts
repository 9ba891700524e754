/** Time zones and countries, as the browser knows them. */

/** Browsers list some zones by their former names; these are the present ones of the IANA database. */
const presentNames: Readonly<Record<string, string>> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Catamarca": "America/Argentina/Catamarca",
  "America/Coral_Harbour": "America/Atikokan",
  "America/Cordoba": "America/Argentina/Cordoba",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Jujuy": "America/Argentina/Jujuy",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Mendoza": "America/Argentina/Mendoza",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};

/** @param present is listed, too: it may have been set by another name. */
export function listTimeZones(present: string): readonly string[] {
  const known = Intl.supportedValuesOf("timeZone").map((zone) => presentNames[zone] ?? zone);
  return [...new Set([present, ...known, "UTC"])].sort();
}

interface Country {
  /** ISO 3166-1 alpha-2. */
  readonly code: string;
  readonly name: string;
}

/** Groups of countries, and codes for tests, that have names too. */
const otherRegions = ["EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"];

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];

/** In the reader's language, by name. */
export function listCountries(): readonly Country[] {
  const names = new Intl.DisplayNames(undefined, { type: "region", fallback: "none" });
  return (
    letters
      .flatMap((first) => letters.map((second) => first + second))
      // A former code, such as DD, has another canonical form.
      .filter((code) => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`)
      .filter((code) => !otherRegions.includes(code))
      .flatMap((code) => {
        const name = names.of(code);
        return name === undefined ? [] : [{ code, name }];
      })
      .sort((one, other) => one.name.localeCompare(other.name))
  );
}
