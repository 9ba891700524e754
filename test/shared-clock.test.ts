/**
 * The clock of a process: it follows the database's, never goes back, and reports when it can't be compared.
 */
import { describe, expect, test } from "vitest";
import { SharedClock } from "../src/time/shared-clock.ts";

const second = 1_000;
const start = Date.parse("2026-03-01T00:00:00Z");

/**
 * A machine and a database whose clocks the test sets. A measurement takes no time unless the test says so.
 */
function createMachine({ aheadMs = 0 } = {}) {
  let monotonic = 5_000;
  let wall = start + aheadMs;
  let database = start;
  const clock = new SharedClock({ monotonicMs: () => monotonic, wallMs: () => wall });
  return {
    clock,
    /** Milliseconds by which the clock is ahead of the database's. */
    aheadMs: () => clock.now().getTime() - database,
    pass(ms: number) {
      monotonic += ms;
      wall += ms;
      database += ms;
    },
    /** The machine is suspended: its monotonic clock stands still. */
    suspend(ms: number) {
      wall += ms;
      database += ms;
    },
    setWall(ms: number) {
      wall += ms;
    },
    setDatabase(ms: number) {
      database += ms;
    },
    measure({ takesMs = 0, othersAheadMs = 0 } = {}) {
      const sentAt = monotonic;
      monotonic += takesMs;
      wall += takesMs;
      const time = database + takesMs / 2;
      database += takesMs;
      clock.observe({ sentAt, receivedAt: monotonic, time, othersAheadMs });
    },
  };
}

type Machine = ReturnType<typeof createMachine>;

function beatFor(seconds: number, machine: Machine): void {
  for (let elapsed = 0; elapsed < seconds; elapsed += 1) {
    machine.pass(second);
    machine.measure();
  }
}

test.each([-90, -35, 15, 90])("a machine whose clock is %i s off has the database's time", (seconds) => {
  const machine = createMachine({ aheadMs: seconds * second });
  machine.measure();
  expect(machine.aheadMs()).toBe(0);
  expect(machine.clock.machineAheadMs).toBe(seconds * second);
  beatFor(60, machine);
  expect(machine.aheadMs()).toBe(0);
});

test("a correction of the machine's clock has no effect", () => {
  const machine = createMachine();
  machine.measure();
  machine.setWall(-40 * second);
  beatFor(2, machine);
  expect(machine.aheadMs()).toBe(0);
});

describe("a step of the database's clock", () => {
  test.each([-30, 30])("of %i s is followed by 50 ms a second, and never goes back", (seconds) => {
    const machine = createMachine();
    machine.measure();
    machine.setDatabase(seconds * second);
    machine.measure();
    const times: number[] = [];
    for (let elapsed = 0; elapsed < 20; elapsed += 1) {
      machine.pass(second);
      machine.measure();
      times.push(machine.clock.now().getTime());
    }
    const steps = times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)));
    expect(new Set(steps)).toEqual(new Set([second + 50 * Math.sign(seconds)]));
    beatFor(600, machine);
    expect(Math.round(machine.aheadMs())).toBe(0);
  });

  test("leaves a process that starts then with the time of the others", () => {
    const machine = createMachine();
    machine.measure({ othersAheadMs: -30 * second });
    expect(machine.aheadMs()).toBe(-30 * second);
  });
});

test("what the machine missed while it was suspended is added at once", () => {
  const machine = createMachine();
  machine.measure();
  machine.suspend(40 * second);
  expect(machine.clock.isCurrent).toBe(false);
  machine.measure();
  expect(machine.aheadMs()).toBe(0);
  expect(machine.clock.isCurrent).toBe(true);
});

test("a slow measurement corrects only what its duration can't explain", () => {
  const machine = createMachine();
  machine.measure();
  machine.setDatabase(400);
  machine.measure({ takesMs: 1_000 });
  machine.pass(60 * second);
  expect(machine.aheadMs()).toBe(-400);
});

describe("the clock can't be compared with the others'", () => {
  test("before the first measurement", () => {
    expect(createMachine().clock.isCurrent).toBe(false);
  });

  test("from 10 s after the last measurement until the next one", () => {
    const machine = createMachine();
    machine.measure();
    machine.pass(10 * second);
    expect(machine.clock.isCurrent).toBe(true);
    machine.pass(1);
    expect(machine.clock.isCurrent).toBe(false);
    machine.measure();
    expect(machine.clock.isCurrent).toBe(true);
  });
});
