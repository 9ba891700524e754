/** The heartbeats of a process whose database is slow. */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Database } from "../src/database/database.ts";
import type { Tables } from "../src/database/schema/index.ts";
import { Processes } from "../src/jobs/processes/index.ts";
import { silentLog } from "./support/app.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Answers every statement with no rows after `latency.ms`. */
function startSlowDatabase(latency: { ms: number }) {
  const startedAt: number[] = [];
  const queries = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    plugins: [
      {
        transformQuery({ node }) {
          startedAt.push(performance.now());
          return node;
        },
        async transformResult({ result }) {
          await new Promise((resolve) => setTimeout(resolve, latency.ms));
          return result;
        },
      },
    ],
  });
  const database = { queries } as Database; // heartbeats use nothing else
  return { database, startedAt };
}

test.each([
  { latencyMs: 200, everyMs: 1_000, isBeating: true },
  { latencyMs: 3_000, everyMs: 3_000, isBeating: true },
  { latencyMs: 5_000, everyMs: 5_000, isBeating: false },
])("that answers in $latencyMs ms follow each other and are judged alike", async (slow) => {
  const latency = { ms: 0 };
  const { database, startedAt } = startSlowDatabase(latency);
  const now = () => new Date();
  const processes = new Processes({ database, now, log: silentLog, isAlone: false });
  await Promise.all([processes.register(), vi.advanceTimersByTimeAsync(0)]);
  processes.start();
  expect(processes.isBeating).toBe(true);
  latency.ms = slow.latencyMs;
  await vi.advanceTimersByTimeAsync(1_000 + 2 * slow.everyMs);
  const [, second = 0, third = 0] = startedAt;
  expect(third - second).toBe(slow.everyMs);
  const judged = new Set<unknown>();
  for (let passed = 0; passed < 2 * slow.everyMs; passed += 100) {
    await vi.advanceTimersByTimeAsync(100);
    judged.add(processes.isBeating);
  }
  expect([...judged]).toEqual([slow.isBeating]);

  latency.ms = 0;
  await vi.advanceTimersByTimeAsync(slow.everyMs + 1_000);
  expect(processes.isBeating).toBe(true);
  await Promise.all([processes.stop(), vi.advanceTimersByTimeAsync(1_000)]);
});
