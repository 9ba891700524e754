/** The processor time of this machine's processes, read from Linux. */
import type { ChildProcess } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";

/** The kernel's clock ticks, `USER_HZ`: 100 a second on every architecture of Linux. */
const msPerTick = 10;

interface ProcessTime {
  readonly name: string;
  readonly ms: number;
  /** Of its children that have ended. */
  readonly childrenMs: number;
}

/** The processor time of the service and of PostgreSQL in milliseconds; undefined if unknown. */
export interface ProcessorTimes {
  readonly service: number | undefined;
  readonly database: number | undefined;
}

export async function readProcessorTimes(services: readonly ChildProcess[]): Promise<ProcessorTimes> {
  const ofServices = await Promise.all(services.map(({ pid }) => processMs(pid)));
  const service = ofServices.reduce<number | undefined>(
    (sum, ms) => (sum === undefined || ms === undefined ? undefined : sum + ms),
    0,
  );
  return { service, database: await postgresMs() };
}

/** What each of `count` messages cost between two readings. */
export function describeProcessorTimes(
  { service, database }: ProcessorTimes,
  after: ProcessorTimes,
  count: number,
): string {
  const describe = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? "unknown" : `${((to - from) / count).toFixed(2)} ms`;
  const [ofService, ofDatabase] = [describe(service, after.service), describe(database, after.database)];
  return `processor time a message: ${ofService} of the service, ${ofDatabase} of PostgreSQL`;
}

/** The processor time of a process in milliseconds; undefined without `/proc`. */
export async function processMs(pid: number | undefined): Promise<number | undefined> {
  return (await readProcess(String(pid)))?.ms;
}

/**
 * The processor time of all PostgreSQL processes on this machine, also of those that have ended, in
 * milliseconds; undefined without `/proc`, or if the server runs elsewhere.
 */
export async function postgresMs(): Promise<number | undefined> {
  const names = await readdir("/proc").catch(() => []);
  const processes = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readProcess));
  const servers = processes.filter((one) => one?.name.startsWith("postgres"));
  return servers.length === 0
    ? undefined
    : servers.reduce((sum, one) => sum + (one?.ms ?? 0) + (one?.childrenMs ?? 0), 0);
}

async function readProcess(pid: string): Promise<ProcessTime | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (text === undefined) {
    return undefined;
  }
  // The name is in parentheses and may contain spaces.
  const end = text.lastIndexOf(")");
  const fields = text.slice(end + 2).split(" ");
  const ticks = (index: number) => Number(fields[index]) * msPerTick;
  return {
    name: text.slice(text.indexOf("(") + 1, end),
    ms: ticks(11) + ticks(12),
    childrenMs: ticks(13) + ticks(14),
  };
}
