/** Reads the counters of a service from its `/metrics`: statements and round trips of the database, and messages. */

export const metricsToken = "a-token-for-the-bench";

export interface Counters {
  /** Undefined for a version that does not count them, as `waits`. */
  readonly statements: number | undefined;
  readonly waits: number | undefined;
  /** Messages that entered these states since the start of the process. */
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
    queued: messages("queued"),
    delivered: messages("delivered"),
    failed: messages("failed"),
  };
}

/** Statements and waits, for each of `count`. */
export interface Cost {
  readonly statements: number;
  readonly waits: number;
}

/** What was sent between two readings, divided by `count`; undefined for a version that does not count. */
export function costBetween(before: Counters, after: Counters, count = 1): Cost | undefined {
  if (
    before.statements === undefined ||
    after.statements === undefined ||
    before.waits === undefined ||
    after.waits === undefined
  ) {
    return undefined;
  }
  return {
    statements: (after.statements - before.statements) / count,
    waits: (after.waits - before.waits) / count,
  };
}
