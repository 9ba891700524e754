/**
 * The clock of a sandbox. It runs like the real clock, ahead of it by a stored time.
 *
 * To move the clock, the jobs run until none is due; then the clock jumps to the time of the next job, and so
 * on. While it jumps, nothing runs that a lease or a time limit could end, except requests. Recurring jobs,
 * such as the sweep for windows that end, do not stop a jump: the longest jump bounds their delay.
 *
 * Only the process of an embedded database has such a clock: the clocks of several processes could not move
 * together.
 */
import { clock as contract } from "../../../tools/clock.ts";
import { fail } from "../../../tools/errors.ts";
import { durationMs } from "../../../tools/flows/nodes/index.ts";
import type { Database } from "../../database/database.ts";
import { openSharedClock } from "../../jobs/processes/index.ts";
import type { Clock, Sandbox } from "../../ports/clock.ts";
import type { SharedClock } from "../../time/shared-clock.ts";
import { implement, type World } from "../foundation/kernel/index.ts";
import { readSetting, replaceSetting } from "../foundation/settings.ts";

/**
 * The longest jump is this part of the distance, within these limits. Each jump takes about 80 ms of real
 * time.
 */
const jump = { part: 1 / 100, minMs: 60_000, maxMs: 3_600_000 };
const maxAheadMs = 10 * 366 * 86_400_000;
/** How long one request moves the clock. Shorter than the time limits of common clients and proxies. */
const requestMs = 20_000;

/** The name of the setting in the database. Its value is in milliseconds. */
const settingName = "clock_ahead_ms";

export const clock = implement(contract, {
  operations: {
    async get_clock(_, { world }) {
      return { data: show(world) };
    },

    async move_clock({ to, by }, { world, signal }) {
      const sandbox = requireMovable(world);
      const time = world.now().getTime();
      const target = to === undefined ? time + durationMs(by ?? "0s") : Date.parse(to);
      if (target < time || target - time + sandbox.aheadMs() > maxAheadMs) {
        throw fail("clock_time_invalid", { param: to === undefined ? "by" : "to" });
      }
      sandbox.isMoving = true;
      try {
        const late = AbortSignal.timeout(requestMs);
        const mustEnd = () => signal.aborted || world.stopping.aborted || late.aborted;
        const reached = await moveClock(world, { sandbox, target, mustEnd });
        return { data: { ...show(world), to: new Date(target).toISOString(), reached } };
      } finally {
        sandbox.isMoving = false;
      }
    },
  },
});

/** @throws Failure `clock_not_movable`, `clock_moving`. */
function requireMovable({ sandbox }: World): Sandbox {
  if (!sandbox) {
    throw fail("clock_not_movable");
  }
  if (sandbox.isMoving) {
    throw fail("clock_moving");
  }
  return sandbox;
}

function show({ now, sandbox }: World) {
  return {
    now: now().toISOString(),
    ahead_seconds: Math.round((sandbox?.aheadMs() ?? 0) / 1000),
    is_movable: sandbox !== undefined,
  };
}

interface Move {
  readonly sandbox: Sandbox;
  /** In milliseconds since 1970. */
  readonly target: number;
  mustEnd(): boolean;
}

/** Returns whether the clock reached the target and everything that is due by then has run. */
async function moveClock({ jobs, now }: World, { sandbox, target, mustEnd }: Move): Promise<boolean> {
  const part = (target - now().getTime()) * jump.part;
  const longestMs = Math.min(jump.maxMs, Math.max(jump.minMs, part));
  for (;;) {
    const dueAt = await jobs.whenIdle();
    const time = now().getTime();
    if (time >= target || mustEnd()) {
      return time >= target;
    }
    const next = Math.min(target, time + longestMs, dueAt?.getTime() ?? Number.POSITIVE_INFINITY);
    await sandbox.moveTo(new Date(next));
  }
}

export interface OpenClock {
  readonly now: Clock;
  /** Undefined if the clock shows the real time. */
  readonly sandbox: Sandbox | undefined;
  /**
   * The clock behind `now` that follows the database's clock. Undefined if the given clock or the machine's
   * clock is used.
   */
  readonly sharedClock: SharedClock | undefined;
}

/** Opens the clock of this database. @throws Error if the clock was moved and may no longer be moved. */
export async function openClock(
  database: Database,
  isMovable: boolean,
  given: Clock | undefined,
): Promise<OpenClock> {
  const sharedClock = given ? undefined : await openSharedClock(database);
  const realTime = given ?? sharedClock?.now ?? (() => new Date());
  const stored = await readSetting(database, settingName);
  if (!isMovable) {
    if (stored !== undefined) {
      throw new Error(
        "The clock of this database was moved forward. Set TIDINGS_SANDBOX_CLOCK=on, or use another database.",
      );
    }
    return { now: realTime, sandbox: undefined, sharedClock };
  }
  let ahead = Number(stored ?? 0);
  const sandbox: Sandbox = {
    isMoving: false,
    aheadMs: () => ahead,
    async moveTo(time) {
      const needed = Math.max(ahead, time.getTime() - realTime().getTime());
      await replaceSetting(database.queries, settingName, String(needed));
      ahead = needed;
    },
  };
  return { now: () => new Date(realTime().getTime() + ahead), sandbox, sharedClock };
}
