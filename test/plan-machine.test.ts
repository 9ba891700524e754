/** The states of a plan, over random sequences: a plan runs at most once, in time, and nothing follows. */
import { equal } from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import {
  advancePlan,
  type PlanState,
  type PlanStep,
  statusAt,
} from "../src/platform/operations/plans/states.ts";
import { randomRuns } from "./support/iterations.ts";

const start = Date.parse("2027-01-01T00:00:00Z");
const hour = 3_600_000;
const lifetime = 24 * hour;

const steps = fc.array(
  fc.record({
    step: fc.constantFrom<PlanStep>("run", "change", "lapse", "withdraw"),
    /** Half-hours that pass before it; the last one before the expiry is as likely as others. */
    wait: fc.integer({ min: 0, max: 20 }).map((halves) => (halves * hour) / 2),
  }),
  { maxLength: 12 },
);

test("whatever happens to it, a plan runs at most once, in its shown version, before it expires", () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      let state: PlanState = {
        status: "ready",
        version: 1,
        expires_at: new Date(start + lifetime).toISOString(),
      };
      let now = start;
      let runs = 0;
      let changes = 0;
      let isEnded = false;
      for (const { step, wait } of sequence) {
        now += wait;
        const next = advancePlan(state, step, new Date(now));
        const isOpen: boolean = !isEnded && now < start + lifetime;
        equal(next !== undefined, isOpen);
        if (next) {
          runs += step === "run" ? 1 : 0;
          changes += step === "change" ? 1 : 0;
          isEnded = step !== "change";
          state = { ...state, ...next };
        }
        equal(runs > 1, false);
        equal(state.version, 1 + changes);
        equal(state.status === "run", runs === 1);
        equal(statusAt(state, new Date(start + lifetime)), isEnded ? state.status : "expired");
      }
    }),
    randomRuns(10_000, 100_000),
  );
});
