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
    step: fc.constantFrom<PlanStep>(
      "run",
      "change",
      "lapse",
      "withdraw",
      "begin",
      "begin",
      "finish",
      "fail",
      "reopen",
      "prepare",
      "freeze",
      "freeze",
      "abandon",
    ),
    /** Half-hours that pass before it; the last one before the expiry is as likely as others. */
    wait: fc.integer({ min: 0, max: 20 }).map((halves) => (halves * hour) / 2),
  }),
  { maxLength: 12 },
);

/** How the call to a third party ends. */
const endings: readonly PlanStep[] = ["finish", "fail", "reopen"];
/** How the preparation by a job ends. */
const preparations: readonly PlanStep[] = ["freeze", "abandon"];
/** The steps that an open plan can take, whether it is ready or preparing. */
const anytime: readonly PlanStep[] = ["change", "prepare", "withdraw"];
/** The steps after which a plan is open. */
const opening: readonly PlanStep[] = ["change", "prepare", "freeze", "begin", "reopen"];

test("a plan that is preparing does not run", () => {
  const expires_at = new Date(start + lifetime).toISOString();
  for (const step of ["run", "begin", "lapse"] as const) {
    equal(advancePlan({ status: "preparing", version: 1, expires_at }, step, new Date(start)), undefined);
  }
});

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
      let isRunning = false;
      let isPreparing = false;
      let isEnded = false;
      for (const { step, wait } of sequence) {
        now += wait;
        const next = advancePlan(state, step, new Date(now));
        const isOpen: boolean = !isEnded && !isRunning && now < start + lifetime;
        const isInState: boolean = preparations.includes(step)
          ? isPreparing
          : anytime.includes(step) || !isPreparing;
        equal(next !== undefined, endings.includes(step) ? isRunning : isOpen && isInState);
        if (next) {
          runs += step === "run" || step === "finish" ? 1 : 0;
          changes += step === "change" || step === "prepare" ? 1 : 0;
          isRunning = step === "begin";
          isPreparing = step === "prepare";
          isEnded = !opening.includes(step);
          state = { ...state, ...next };
        }
        equal(runs > 1, false);
        equal(state.version, 1 + changes);
        equal(state.status === "run", runs === 1);
        equal(state.status === "running", isRunning);
        equal(state.status === "preparing", isPreparing && !isEnded);
        const isKept: boolean = isEnded || isRunning;
        equal(statusAt(state, new Date(start + lifetime)), isKept ? state.status : "expired");
      }
    }),
    randomRuns(10_000, 100_000),
  );
});
