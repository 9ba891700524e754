/**
 * Matches regular expressions on separate threads: an expression that takes too long is stopped by ending its
 * thread.
 */
import type { PatternInspection, PatternMatcher, PatternVerdict } from "../../ports/patterns.ts";
import type { PatternTask } from "./matcher-worker.ts";
import { type PatternLimits, PatternThread } from "./thread.ts";

/** The most threads in this process: more would only compete for the processor. */
const threads = 2;

/**
 * Matching an expression of 100 instructions with the longest message takes a few milliseconds. Saving a flow
 * may wait longer: an expression that is small enough must not be rejected because the machine is busy.
 */
const defaultLimits: PatternLimits = { matchMs: 200, inspectMs: 3_000, memoryMb: 128, idleMs: 60_000 };

export function openPatternMatcher(changed: Partial<PatternLimits> = {}): PatternMatcher {
  const limits = { ...defaultLimits, ...changed };
  const idle = Array.from({ length: threads }, () => new PatternThread(limits));
  const waiting: ((thread: PatternThread) => void)[] = [];

  async function run(task: PatternTask): Promise<unknown> {
    // The thread that worked last, because its programs are compiled.
    const thread = idle.pop() ?? (await new Promise<PatternThread>((resolve) => waiting.push(resolve)));
    try {
      return await thread.run(task);
    } finally {
      const next = waiting.shift();
      if (next) {
        next(thread);
      } else {
        idle.push(thread);
      }
    }
  }

  return {
    async inspect(pattern) {
      const answer = await run({ type: "inspect", pattern });
      return (answer ?? { outcome: "timeout" }) as PatternInspection; // the form in which matcher-worker.ts answers
    },
    async match(pattern, text) {
      return ((await run({ type: "match", pattern, text })) ?? "timeout") as PatternVerdict; // as above
    },
  };
}
