/** Countries by IP address: the bundled table, and one of the operator. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ipaddr from "ipaddr.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBundledTable, openCountries } from "../src/adapters/countries/index.ts";
import { findCountryCode, writeMmdb } from "./support/mmdb.ts";

const fallback = "??";

describe("the bundled table", async () => {
  const file = await readFile(findBundledTable());
  const countries = await openCountries({ file: undefined, fallback });

  test.each([
    ["8.8.8.8", "US"],
    ["81.2.69.142", "GB"],
    ["193.0.6.139", "NL"],
    ["80.58.61.250", "ES"],
    ["49.36.0.1", "IN"],
    ["200.147.3.157", "BR"],
    ["210.155.141.200", "JP"],
    ["2001:4860:4860::8888", "US"],
    ["2003::1", "DE"],
    ["2804:14c::1", "BR"],
    ["2401:4900::1", "IN"],
  ])("has %s in %s", async (address, country) => {
    expect(await countries.countryOf(address)).toBe(country);
  });

  test("1,000 addresses have the country that another reader finds in the file", async () => {
    const random = createRandom();
    const isPublic = (address: string) => ipaddr.parse(address).range() === "unicast";
    const ipv4 = createAddresses(500, () => [0, 0, 0, 0].map(() => random(256)).join("."), isPublic);
    const ipv6 = createAddresses(500, () => randomIpv6(random), isPublic);
    const found = new Set<string | null>();
    for (const address of [...ipv4, ...ipv6]) {
      const bytes = ipaddr.parse(address).toByteArray();
      const padded = [...Array<number>(16 - bytes.length).fill(0), ...bytes];
      const expected = findCountryCode(file, padded);
      expect([address, await countries.countryOf(address)]).toEqual([address, expected ?? fallback]);
      found.add(expected);
    }
    expect(found.size).toBeGreaterThan(60);
    // An IPv4 address in IPv6 form, in every spelling.
    for (const address of ipv4) {
      // An IPv4 address has four.
      const [a, b, c, d] = ipaddr.IPv4.parse(address).octets as [number, number, number, number];
      const hex = `::FFFF:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
      const country = await countries.countryOf(address);
      expect(await countries.countryOf(`::ffff:${address}`)).toBe(country);
      expect(await countries.countryOf(hex)).toBe(country);
    }
  });

  test("is not asked for addresses that are not public, though it has some of them", async () => {
    const addresses = [
      "10.0.0.1",
      "172.16.5.4",
      "192.168.1.1",
      "127.0.0.1",
      "169.254.1.1",
      "100.64.0.1",
      "0.0.0.0",
      "203.0.113.5",
      "198.51.100.7",
      "224.0.0.1",
      "255.255.255.255",
      "::1",
      "::",
      "fe80::1",
      "fd00::1",
      "2001:db8::1",
      "ff02::1",
      "::ffff:10.0.0.1",
      "64:ff9b::808:808",
      "unknown",
      "",
      "8.8.8.8:443",
      "256.1.1.1",
      "[2003::1]",
    ];
    for (const address of [...addresses, undefined]) {
      expect([address, await countries.countryOf(address)]).toEqual([address, fallback]);
    }
    const documentation = [...Array<number>(12).fill(0), 203, 0, 113, 5];
    expect(findCountryCode(file, documentation)).not.toBeNull();
  });
});

describe("a table of the operator", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidings-countries-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const open = async (content: Buffer) => {
    const file = join(folder, "table.mmdb");
    await writeFile(file, content);
    return openCountries({ file, fallback });
  };

  test.each([
    ["country_code", { country_code: "JP" }],
    ["country.iso_code", { country: { iso_code: "JP" }, continent: { code: "AS" } }],
  ])("with %s is used instead of the bundled one", async (_, record) => {
    // 8.0.0.0/7, and a network without a country.
    const countries = await open(writeMmdb({ "0000100": record, "0001": { country_code: "-" } }));
    expect(await countries.countryOf("8.8.8.8")).toBe("JP");
    expect(await countries.countryOf("9.255.255.255")).toBe("JP");
    expect(await countries.countryOf("10.0.0.1")).toBe(fallback);
    expect(await countries.countryOf("17.0.0.1")).toBe(fallback);
    expect(await countries.countryOf("81.2.69.142")).toBe(fallback);
  });

  test("that is missing, damaged or about something else ends the start and says what to do", async () => {
    const good = writeMmdb({ "0000100": { country_code: "JP" } });
    const other = writeMmdb({ "0000100": { autonomous_system_number: 1 } });
    const rejected = async (opening: Promise<unknown>) => {
      const error: unknown = await opening.then(
        () => undefined,
        (reason) => reason,
      );
      return error instanceof Error ? error.message : "";
    };
    const what = "Give the path of a MaxMind DB file (.mmdb) with countries, or remove the setting";
    const missing = await rejected(openCountries({ file: join(folder, "none.mmdb"), fallback }));
    expect(missing).toContain("TIDINGS_GEOIP_FILE can't be used (ENOENT: no such file");
    expect(missing).toContain(what);
    const damaged = [
      "TIDINGS_GEOIP_FILE can't be used (it is not in the MaxMind DB format, or damaged)",
      what,
    ];
    for (const content of [
      Buffer.alloc(0),
      Buffer.from("<html>"),
      good.subarray(0, -40),
      good.subarray(30),
    ]) {
      const message = await rejected(open(content));
      expect(damaged.filter((part) => !message.includes(part))).toEqual([]);
    }
    expect(await rejected(open(other))).toContain("it has no countries in country_code or country.iso_code");
  });
});

/** Whole numbers below a limit, the same in each run. */
function createRandom(): (limit: number) => number {
  let seed = 20_270_131;
  return (limit) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * limit);
  };
}

/** In the parts of 2000::/3 that the registries give out. */
function randomIpv6(random: (limit: number) => number): string {
  const blocks = [
    "2001",
    "2400",
    "2401",
    "2404",
    "2406",
    "2600",
    "2607",
    "2800",
    "2803",
    "2804",
    "2a00",
    "2a01",
  ];
  const block = blocks[random(blocks.length)];
  return `${block}:${random(65_536).toString(16)}:${random(65_536).toString(16)}::${random(65_536).toString(16)}`;
}

function createAddresses(
  count: number,
  create: () => string,
  isWanted: (address: string) => boolean,
): string[] {
  const addresses: string[] = [];
  while (addresses.length < count) {
    const address = create();
    if (isWanted(address)) {
      addresses.push(address);
    }
  }
  return addresses;
}
