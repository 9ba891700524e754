/** Countries by IP address: memory of the table, time of the first look-up and of later look-ups. */
import { openCountries } from "../src/adapters/countries/index.ts";
import { median } from "./support/median.ts";

const lookUps = 200_000;
const runs = 5;

const addresses = {
  IPv4: () => Array.from({ length: 4 }, () => random(256)).join("."),
  IPv6: () => `2a0${random(16).toString(16)}:${random(65_536).toString(16)}::1`,
  "IPv4 as IPv6": () => `::ffff:${addresses.IPv4()}`,
  private: () => `10.${random(256)}.0.1`,
} as const;

const before = process.memoryUsage();
const startedAt = performance.now();
const countries = await openCountries({ file: process.env.TIDINGS_GEOIP_FILE, fallback: "US" });
console.log(`open: ${(performance.now() - startedAt).toFixed(1)} ms`);
const firstAt = performance.now();
await countries.countryOf("81.2.69.142");
console.log(`first look-up: ${(performance.now() - firstAt).toFixed(1)} ms`);
for (const [kind, create] of Object.entries(addresses)) {
  const sample = Array.from({ length: lookUps }, create);
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const at = performance.now();
    for (const address of sample) {
      await countries.countryOf(address);
    }
    times.push(((performance.now() - at) * 1_000) / lookUps);
  }
  console.log(`${kind}: ${median(times).toFixed(2)} µs a look-up (median of ${runs} runs of ${lookUps})`);
}
globalThis.gc?.();
const after = process.memoryUsage();
const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MB`;
console.log(`file in memory: ${megabytes(after.arrayBuffers - before.arrayBuffers)}`);

function random(limit: number): number {
  return Math.floor(Math.random() * limit);
}
