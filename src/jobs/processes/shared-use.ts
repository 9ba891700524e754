/** The use of rate limits, which the processes of one database exchange with their heartbeats. */
import type { Clock } from "../../ports/clock.ts";

export interface SharedUse {
  /** Adds to the use of a credential in this process. */
  add(credentialId: string, points: number): void;
  /** Sets the function that is called with the use in other processes, about once a second. */
  onOthers(callback: UseCallback): void;
}

type UseCallback = (credentialId: string, points: number) => void;

/** Points by credential, counted since the credential became active. */
export type UseCounts = Readonly<Record<string, number>>;

export interface UseExchange extends SharedUse {
  /** The counts of the active credentials, for the heartbeat. */
  read(): UseCounts;
  /** Reports what another process used between two of its heartbeats. */
  report(before: UseCounts, after: UseCounts): void;
}

/** A count is dropped after this time without use; by then the other processes have read it several times. */
const activeMs = 5_000;

export function createUseExchange(now: Clock): UseExchange {
  const counts = new Map<string, { points: number; usedAt: number }>();
  let callback: UseCallback = () => undefined;
  return {
    add(id, points) {
      const { points: before } = counts.get(id) ?? { points: 0 };
      counts.set(id, { points: before + points, usedAt: now().getTime() });
    },
    onOthers(newCallback) {
      callback = newCallback;
    },
    read() {
      const activeSince = now().getTime() - activeMs;
      for (const [id, { usedAt }] of counts) {
        if (usedAt < activeSince) {
          counts.delete(id);
        }
      }
      return Object.fromEntries([...counts].map(([id, { points }]) => [id, points]));
    },
    report(before, after) {
      for (const [id, points] of Object.entries(after)) {
        const known = before[id] ?? 0;
        // A lower count has restarted from zero after the credential was inactive.
        const added = points < known ? points : points - known;
        if (added > 0) {
          callback(id, added);
        }
      }
    },
  };
}

/** For a process that does not share its database: nothing is counted. */
export const unsharedUse: SharedUse = { add: () => undefined, onOthers: () => undefined };
