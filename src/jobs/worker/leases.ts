/** The leases of the jobs that run in this process, and when each must be renewed. */
import type { ClaimedJob } from "../claim/index.ts";
import type { JobDefinition } from "../job.ts";
import type { RescheduledJob } from "../settle.ts";

const defaultLeaseMs = 60_000;

/** The end of a lease that starts now. */
export function leaseEnd({ leaseMs = defaultLeaseMs }: JobDefinition, now: Date): Date {
  return new Date(now.getTime() + leaseMs);
}

interface Lease {
  readonly job: ClaimedJob;
  readonly definition: JobDefinition;
  /**
   * After half of the lease: late enough that most jobs have ended, and early enough for one renewal to fail.
   */
  renewAt: number;
}

export class Leases {
  readonly #leases = new Map<string, Lease>();

  get size(): number {
    return this.#leases.size;
  }

  get ids(): string[] {
    return [...this.#leases.keys()];
  }

  get keys(): string[] {
    return [...this.#leases.values()].flatMap(({ job }) => job.key ?? []);
  }

  /** When the first lease must be renewed; infinity without leases. */
  get renewAt(): number {
    return Math.min(...[...this.#leases.values()].map(({ renewAt }) => renewAt));
  }

  add(job: ClaimedJob, definition: JobDefinition, now: Date): void {
    this.#leases.set(job.id, { job, definition, renewAt: halfway(definition, now) });
  }

  remove(job: ClaimedJob): void {
    this.#leases.delete(job.id);
  }

  /** The renewals that are due. They are returned again until `markRenewed` is called. */
  renewals(now: Date): RescheduledJob[] {
    return this.#due(now).map(({ job, definition }) => {
      const run_at = leaseEnd(definition, now).toISOString();
      return { id: job.id, claimed: job.claims, run_at, attempts: job.attempts };
    });
  }

  markRenewed(now: Date): void {
    for (const lease of this.#due(now)) {
      lease.renewAt = halfway(lease.definition, now);
    }
  }

  #due(now: Date): Lease[] {
    return [...this.#leases.values()].filter(({ renewAt }) => renewAt <= now.getTime());
  }
}

function halfway(definition: JobDefinition, now: Date): number {
  return (now.getTime() + leaseEnd(definition, now).getTime()) / 2;
}
