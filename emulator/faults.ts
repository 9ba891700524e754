/**
 * The faults that the controls inject.
 *
 * A share needs no chance: of n cases a share of 0.25 meets every fourth, so tests that repeat
 * get the same result.
 */
import { z } from "zod";

const share = z.number().min(0).max(1);
const milliseconds = z.number().int().min(0).max(86_400_000);

const Failure = z.strictObject({
  code: z.number().int().min(0),
  share: share.default(1),
  /** Only messages to this number or user id. */
  to: z.string().max(140).optional(),
  /** In the answer, or by a webhook after it; by default as the code usually comes. */
  by: z.enum(["answer", "webhook"]).optional(),
  /** How many messages fail; without it, all. */
  times: z.number().int().min(1).optional(),
});
export type Failure = z.output<typeof Failure>;

export const FaultSettings = z.strictObject({
  failures: z.array(Failure).max(100).default([]),
  /** In place of each number's own throughput. */
  messages_per_second: z.number().int().min(0).max(100_000).nullable().default(null),
  /** Throttles are documented with 400; real ones also come with 429. */
  throttle_status: z.union([z.literal(400), z.literal(429)]).default(400),
  pair_limit: z.boolean().default(true),
  accept_delay_ms: milliseconds.default(0),
  /** Accepted, and then not answered. */
  timeouts: share.default(0),
  /** Accepted, and then the connection is closed. */
  lost_answers: share.default(0),
  sent_delay_ms: milliseconds.default(50),
  delivered_delay_ms: milliseconds.default(200),
  /** Messages that stay sent. */
  undelivered: share.default(0),
  webhooks: z
    .strictObject({
      delay_ms: milliseconds.default(0),
      doubled: share.default(0),
      reordered: share.default(0),
      /** How much later a reordered one comes. */
      reorder_ms: milliseconds.default(1_000),
      /** Collects the changes of this time in one request. */
      batch_ms: milliseconds.default(0),
    })
    .prefault({}),
});
export type FaultSettings = z.output<typeof FaultSettings>;

type ShareName = "timeouts" | "lost_answers" | "undelivered" | "webhooks.doubled" | "webhooks.reordered";

export interface Faults {
  settings: FaultSettings;
  replace(settings: FaultSettings): void;
  hits(name: ShareName): boolean;
  /** The failure that a message to this number or user id meets. */
  takeFailure(to: string): Failure | undefined;
}

export function createFaults(): Faults {
  const counts = new Map<string, { cases: number; hits: number }>();

  /** Whether the next case of this name is one of the share. */
  const isNext = (name: string, value: number): boolean => {
    const count = counts.get(name) ?? { cases: 0, hits: 0 };
    counts.set(name, count);
    count.cases += 1;
    // The tolerance absorbs the error of floating-point shares such as 0.1.
    const isHit = Math.floor(count.cases * value + 1e-9) > count.hits;
    count.hits += isHit ? 1 : 0;
    return isHit;
  };

  const faults: Faults = {
    settings: FaultSettings.parse({}),
    replace(settings) {
      faults.settings = settings;
      counts.clear();
    },
    hits(name) {
      const { timeouts, lost_answers, undelivered, webhooks } = faults.settings;
      const shares: Record<ShareName, number> = {
        timeouts,
        lost_answers,
        undelivered,
        "webhooks.doubled": webhooks.doubled,
        "webhooks.reordered": webhooks.reordered,
      };
      return shares[name] > 0 && isNext(name, shares[name]);
    },
    takeFailure(to) {
      return faults.settings.failures.find((failure, index) => {
        const used = counts.get(`failure ${index}`)?.hits ?? 0;
        const isOver = failure.times !== undefined && used >= failure.times;
        const concerns = failure.to === undefined || failure.to.replace(/^\+/, "") === to;
        return concerns && !isOver && isNext(`failure ${index}`, failure.share);
      });
    },
  };
  return faults;
}
