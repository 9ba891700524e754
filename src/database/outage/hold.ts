/** Holds requests while the database restarts or fails over, and runs them when it accepts writes again. */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../database.ts";
import { isInterrupted } from "./errors.ts";

/** The most requests that one process holds, and their size together. */
const maxHeld = { requests: 500, bytes: 32 * 1024 * 1024 };
/** The pause between two questions whether the database accepts writes. */
const probeMs = 100;

export interface HeldRequest {
  /** The organization, among which the places are divided. */
  readonly owner: string;
  /** The size of the input in bytes. */
  size(): number;
}

export interface RequestHold {
  /**
   * Runs work that may be repeated. If the database is interrupted meanwhile, it runs again, until it is done
   * or the wait is over.
   * @throws the error of the work: at once if too many requests are held.
   */
  run<Result>(request: HeldRequest, work: () => Promise<Result>): Promise<Result>;
}

interface Waiting {
  readonly owner: string;
  readonly bytes: number;
  /** Ends the wait without another run. */
  giveUp(): void;
}

/** @param waitMs how long a request waits in all; 0 holds none. */
export function createHold(database: Pick<Database, "engine" | "queries">, waitMs: number): RequestHold {
  const held = new Set<Waiting>();
  let recovery: Promise<void> | undefined;

  const recover = async () => {
    while (held.size > 0) {
      await sleep(probeMs);
      if (await acceptsWrites(database)) {
        break;
      }
    }
    recovery = undefined;
  };

  /** Waits until the database accepts writes. @returns false if the request should not run again. */
  const wait = async ({ owner, size }: HeldRequest, untilMs: number): Promise<boolean> => {
    const bytes = size();
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0 || !makeRoom(held, { owner, bytes })) {
      return false;
    }
    const end = new AbortController();
    const waiting: Waiting = {
      owner,
      bytes,
      giveUp() {
        held.delete(waiting);
        end.abort();
      },
    };
    held.add(waiting);
    try {
      recovery ??= recover();
      const isOver = sleep(leftMs, true, { signal: end.signal }).catch(() => true);
      return !(await Promise.race([recovery.then(() => false), isOver]));
    } finally {
      waiting.giveUp();
    }
  };

  return {
    async run(request, work) {
      let untilMs: number | undefined;
      for (;;) {
        try {
          return await work();
        } catch (error) {
          if (database.engine === "embedded" || !isInterrupted(error)) {
            throw error;
          }
          untilMs ??= performance.now() + waitMs;
          if (!(await wait(request, untilMs))) {
            throw error;
          }
        }
      }
    },
  };
}

/**
 * If there is no place, the owner with the most requests gives up its last one, unless this one has as many.
 * @returns whether there is room.
 */
function makeRoom(held: ReadonlySet<Waiting>, { owner, bytes }: Pick<Waiting, "owner" | "bytes">): boolean {
  const used = [...held].reduce((sum, waiting) => sum + waiting.bytes, 0);
  if (held.size < maxHeld.requests && used + bytes <= maxHeld.bytes) {
    return true;
  }
  const requestsOf = (one: string) => [...held].filter((waiting) => waiting.owner === one);
  const owners = [...new Set([...held].map((waiting) => waiting.owner))].map(requestsOf);
  const [largest = []] = owners.sort((one, other) => other.length - one.length);
  const last = largest.at(-1);
  if (!last || largest.length <= requestsOf(owner).length + 1 || last.bytes < bytes) {
    return false;
  }
  last.giveUp();
  return true;
}

async function acceptsWrites({ queries }: Pick<Database, "queries">): Promise<boolean> {
  try {
    const { rows } = await sql<{ is_writable: boolean }>`
      select not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean as is_writable
    `.execute(queries);
    return rows[0]?.is_writable === true;
  } catch {
    return false;
  }
}
