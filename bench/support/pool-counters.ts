/**
 * Reads the counters of a service from its `/metrics`: statements and waits of the database, CPU time,
 * messages.
 */

export const metricsToken = "a-token-for-the-bench";

export interface Counters {
  /** Undefined for a version that does not count statements; the same for `waits`. */
  readonly statements: number | undefined;
  readonly waits: number | undefined;
  /**
   * The CPU time of the process and its threads. Unlike rates it depends little on other load on the machine.
   */
  readonly cpuSeconds: number;
  /** Messages that entered these states since the process started. */
  readonly queued: number;
  readonly delivered: number;
  readonly failed: number;
}

export async function readCounters(baseUrl: string): Promise<Counters> {
  const response = await fetch(`${baseUrl}/metrics`, {
    headers: { authorization: `Bearer ${metricsToken}` },
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`/metrics answered ${response.status}: ${text.slice(0, 200)}`);
  }
  const values = new Map(
    text.split("\n").map((line): [string, number] => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
  const messages = (state: string) => values.get(`tidings_messages_total{state="${state}"}`) ?? 0;
  return {
    statements: values.get("tidings_database_statements_total"),
    waits: values.get("tidings_database_waits_total"),
    cpuSeconds: values.get("process_cpu_seconds_total") ?? 0,
    queued: messages("queued"),
    delivered: messages("delivered"),
    failed: messages("failed"),
  };
}

/** The cost of some work. The statements and waits are undefined for a version that does not count them. */
export interface Cost {
  readonly statements: number | undefined;
  readonly waits: number | undefined;
  readonly cpuMs: number;
}

/** The cost between two readings, divided by `count`. */
export function costBetween(before: Counters, after: Counters, count = 1): Cost {
  return {
    statements: divide(subtract(after.statements, before.statements), count),
    waits: divide(subtract(after.waits, before.waits), count),
    cpuMs: ((after.cpuSeconds - before.cpuSeconds) * 1_000) / count,
  };
}

/** How much more `busy` cost than `idle`, divided by `count`. */
export function costAbove(busy: Cost, idle: Cost, count: number): Cost {
  return {
    statements: divide(subtract(busy.statements, idle.statements), count),
    waits: divide(subtract(busy.waits, idle.waits), count),
    cpuMs: (busy.cpuMs - idle.cpuMs) / count,
  };
}

function subtract(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one - other;
}

function divide(value: number | undefined, count: number): number | undefined {
  return value === undefined ? undefined : value / count;
}
