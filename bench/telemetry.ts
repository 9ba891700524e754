/**
 * Cost of telemetry: requests a second of GET /v1/contacts without it, with metrics, with traces.
 *
 * Three built services, each with its own embedded database, are measured in turn in every round, so that
 * variations of the machine affect them alike. Metrics are scraped once a round, and a collector discards the
 * traces. About 30 s. Run `npm run build` first.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { startCollector } from "./support/collector.ts";
import { median } from "./support/median.ts";
import { startService } from "./support/service.ts";

const connections = 16;
const rounds = 7;
const roundMs = 1_000;
const firstPort = 39_480;
const key = `sk_live_${"t".repeat(43)}`;
const token = "a-token-for-the-bench";

const collector = await startCollector();

const settings: Readonly<Record<string, Record<string, string>>> = {
  off: {},
  metrics: { TIDINGS_METRICS_TOKEN: token },
  traces: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
};

const measured = await Promise.all(
  Object.entries(settings).map(async ([name, env], index) => {
    const dataDir = await mkdtemp(join(tmpdir(), "tidings-bench-"));
    const service = await startService(firstPort + index, key, { ...env, TIDINGS_DATA_DIR: dataDir });
    return { name, dataDir, ...service, perSecond: [] as number[] };
  }),
);
for (let round = 0; round <= rounds; round += 1) {
  // The order rotates, because the first service after a pause is the fastest.
  for (const { baseUrl, perSecond } of [...measured.slice(round % 3), ...measured.slice(0, round % 3)]) {
    await fetch(`${baseUrl}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    const value = await throughput(baseUrl);
    // The first round is the warm-up.
    if (round > 0) {
      perSecond.push(value);
    }
  }
}
const without = median(measured[0]?.perSecond ?? []);
for (const { name, perSecond, child, dataDir } of measured) {
  const middle = median(perSecond);
  const micros = 1e6 / middle - 1e6 / without;
  console.log(
    `${name.padEnd(8)} ${middle.toFixed(0).padStart(6)} requests/s  ratio ${(middle / without).toFixed(3)}  ${micros.toFixed(0)} µs more each`,
  );
  child.kill("SIGTERM");
  await once(child, "exit");
  await rm(dataDir, { recursive: true });
}
console.log(`medians of ${rounds}, load average ${loadavg()[0]?.toFixed(2)}`);
collector.close();

/** Requests a second over all connections. @throws Error for an unsuccessful response. */
async function throughput(origin: string): Promise<number> {
  const pool = new Pool(origin, { connections });
  const request = { method: "GET", path: "/v1/contacts", headers: { "x-api-key": key } } as const;
  const started = performance.now();
  let done = 0;
  const runRequests = async (): Promise<void> => {
    while (performance.now() - started < roundMs) {
      const { statusCode, body } = await pool.request(request);
      const text = await body.text();
      if (statusCode !== 200) {
        throw new Error(`answered ${statusCode}: ${text.slice(0, 300)}`);
      }
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, runRequests));
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  return done / seconds;
}
