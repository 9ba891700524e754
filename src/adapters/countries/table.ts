/** A table of countries by IP address, in the MaxMind DB format. */
import { Reader } from "mmdb-lib";

export interface Table {
  /** The country of an IPv4 or IPv6 address in its usual form; null if the table has no country for it. */
  countryOf(address: string): string | null;
  /** @throws if the file is damaged, or has no countries. */
  requireCountries(): void;
}

/** @throws if the content is not such a table. */
export function readTable(content: Buffer): Table {
  const reader = orDamaged(() => new Reader(content));
  const countryOf = (address: string) => readCountry(reader.get(address));
  return {
    countryOf,
    requireCountries() {
      if (!orDamaged(() => sampleAddresses().some((address) => countryOf(address) !== null))) {
        throw new Error("it has no countries in country_code or country.iso_code");
      }
    },
  };
}

/** Replaces the reader's own errors, which are about offsets and types in the file. */
function orDamaged<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw new Error("it is not in the MaxMind DB format, or damaged", { cause });
  }
}

/** Reads both forms in use: the form of the bundled table, and the form of MaxMind, DB-IP and others. */
function readCountry(record: unknown): string | null {
  const code = member(record, "country_code") ?? member(member(record, "country"), "iso_code");
  return typeof code === "string" && /^[A-Z]{2}$/.test(code) ? code : null;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** One address for each 65,536 IPv4 addresses. */
function sampleAddresses(): readonly string[] {
  return Array.from({ length: 65_536 }, (_, index) => `${index >>> 8}.${index & 255}.1.1`);
}
