/** Clients that send messages while something fails, and what became of the messages. */
import { setTimeout as sleep } from "node:timers/promises";
import { connectTo } from "../../../test/support/postgres.ts";
import { pollUntil } from "../service.ts";

const writerCount = 8;
const pauseMs = 100;

/** What the clients saw during one fault. */
export interface Round {
  readonly acknowledged: readonly Sent[];
  /** The longest time in which no message of any client was acknowledged. */
  readonly gapMs: number;
  readonly slowestMs: number;
  /** How many answers were errors, by status; and how often there was no answer. */
  readonly errors: ReadonlyMap<string, number>;
}

interface Sent {
  readonly to: string;
  readonly id: string;
}

export interface Outcome {
  readonly stored: number;
  readonly delivered: number;
  /** Arrived more than once, or is stored more than once. */
  readonly doubled: number;
}

/**
 * Clients that each send one message after another, and repeat a request with its idempotency key until it is
 * acknowledged, at another address after a connection was refused or lost.
 */
export function startWriters(baseUrls: readonly string[], key: string) {
  let round = newRound();
  let isEnding = false;
  let count = 0;

  const write = async (writer: number) => {
    let address = writer;
    while (!isEnding) {
      count += 1;
      const to = `+1415${5_000_000 + count}`;
      let id: string | undefined;
      while (id === undefined) {
        const startedAt = performance.now();
        const { data, error } = await send(baseUrls[address % baseUrls.length] ?? "", { to, key });
        round.slowestMs = Math.max(round.slowestMs, performance.now() - startedAt);
        id = data?.id;
        if (error !== undefined) {
          round.errors.set(error, (round.errors.get(error) ?? 0) + 1);
          address += error === noAnswer ? 1 : 0;
          await sleep(pauseMs);
        }
      }
      round.acknowledged.push({ to, id });
      const now = performance.now();
      round.gapMs = Math.max(round.gapMs, now - round.lastAt);
      round.lastAt = now;
      await sleep(pauseMs);
    }
  };

  const writers = Promise.all(Array.from({ length: writerCount }, (_, writer) => write(writer)));
  writers.catch(() => undefined); // observed by end
  return {
    /** What the clients see while `fault` runs, until each of them can send again. */
    async during(fault: () => Promise<unknown>): Promise<Round> {
      const own = newRound();
      round = own;
      await fault();
      const before = own.acknowledged.length;
      await pollUntil(() => own.acknowledged.length > before + 2 * writerCount);
      return own;
    },
    async end(): Promise<void> {
      isEnding = true;
      await writers;
    },
  };
}

const noAnswer = "no answer";

function newRound() {
  const acknowledged: Sent[] = [];
  const errors = new Map<string, number>();
  return { acknowledged, errors, gapMs: 0, slowestMs: 0, lastAt: performance.now() };
}

async function send(baseUrl: string, { to, key }: { readonly to: string; readonly key: string }) {
  try {
    const answer = await fetch(`${baseUrl}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json", "idempotency-key": to },
      body: JSON.stringify({ to, type: "text", text: { body: `To ${to}` } }),
    });
    const { data } = (await answer.json()) as { data?: { id: string } }; // as documented
    return answer.ok && data ? { data } : { error: String(answer.status) };
  } catch {
    return { error: noAnswer };
  }
}

/** Waits, at most two minutes, until no message is queued. */
export async function settle(databaseUrl: string): Promise<void> {
  await using client = await connectTo(databaseUrl);
  const pending = "select from messages where status in ('queued', 'sending')";
  const end = performance.now() + 120_000;
  await pollUntil(async () => (await client.query(pending)).length === 0 || performance.now() > end);
}

/** What the database and the simulated channel have of the messages that were acknowledged. */
export async function compare(databaseUrl: string, acknowledged: readonly Sent[]): Promise<Outcome> {
  await using client = await connectTo(databaseUrl);
  const countBy = async (statement: string) => {
    const rows = await client.query(statement);
    return new Map(rows.map(({ key, times }) => [String(key), Number(times)]));
  };
  const stored = new Set((await client.query("select id from messages")).map(({ id }) => id));
  const copies = await countBy('select "to" as key, count(*) as times from messages group by 1');
  const arrived = await countBy(
    "select phone_number as key, count(*) as times from simulator_messages where direction = 'outbound' group by 1",
  );
  return {
    stored: acknowledged.filter(({ id }) => stored.has(id)).length,
    delivered: acknowledged.filter(({ to }) => arrived.has(to)).length,
    doubled: acknowledged.filter(({ to }) => (arrived.get(to) ?? 0) > 1 || (copies.get(to) ?? 0) > 1).length,
  };
}

export function describeErrors({ errors }: Round): string {
  return [...errors].map(([status, times]) => `${times} × ${status}`).join(", ") || "none";
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
