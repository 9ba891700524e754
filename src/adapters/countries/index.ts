/**
 * Finds the country of an IP address in a table in the MaxMind DB format: the bundled table, or the
 * operator's table.
 *
 * The bundled table is read at the first look-up, so that a start does not have to read it. The operator's
 * table is read and checked at the start. Both stay in memory, and nothing is downloaded.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import ipaddr from "ipaddr.js";
import type { Countries } from "../../ports/countries.ts";
import { loadOnce } from "../load-once.ts";
import type { Table } from "./table.ts";

export interface CountrySettings {
  /** Undefined for the bundled table. */
  readonly file: string | undefined;
  /** The country for addresses without a country. */
  readonly fallback: string;
}

/** @throws if the operator's file can't be read, or has no countries. */
export async function openCountries({ file, fallback }: CountrySettings): Promise<Countries> {
  const ownTable = file === undefined ? undefined : await openOwnTable(file);
  const loadBundled = loadOnce(async () => loadTable(findBundledTable()));
  return {
    async countryOf(address) {
      const publicAddress = toPublicAddress(address);
      if (publicAddress === null) {
        return fallback;
      }
      const table = ownTable ?? (await loadBundled());
      return table.countryOf(publicAddress) ?? fallback;
    },
  };
}

/**
 * The address in the form that tables use, or null if it is not an address of the public internet: tables
 * also have wrong entries for private and documentation addresses. An IPv4 address in IPv6 form counts as
 * IPv4.
 */
function toPublicAddress(address: string | undefined): string | null {
  if (address === undefined || !ipaddr.isValid(address)) {
    return null;
  }
  const parsed = ipaddr.process(address);
  return parsed.range() === "unicast" ? parsed.toString() : null;
}

/** The file that the build writes, or the file in the package from which the build copies it. */
export function findBundledTable(): string {
  const built = fileURLToPath(new URL("countries.mmdb", import.meta.url));
  return existsSync(built)
    ? built
    : createRequire(import.meta.url).resolve(
        "@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb",
      );
}

/** Also loads the reader, which most processes never need. */
async function loadTable(file: string): Promise<Table> {
  const { readTable } = await import("./table.ts");
  return readTable(await readFile(file));
}

async function openOwnTable(file: string): Promise<Table> {
  try {
    const table = await loadTable(file);
    table.requireCountries();
    return table;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `TIDINGS_GEOIP_FILE can't be used (${reason}). Give the path of a MaxMind DB file (.mmdb) with countries, or remove the setting to use the bundled table.`,
      { cause: error },
    );
  }
}
