/** The jobs that run in this process, and how long their leases last. */
import type { JobDefinition } from "./job.ts";
import type { ClaimedJob, Move } from "./queue.ts";

const defaultLeaseMs = 60_000;

/** Until when a job that is taken now stays with its taker. */
export function leaseEnd({ leaseMs = defaultLeaseMs }: JobDefinition, now: Date): Date {
  return new Date(now.getTime() + leaseMs);
}

interface Flight {
  readonly job: ClaimedJob;
  readonly definition: JobDefinition;
  /** Half of the lease: late enough to be rare, early enough to be missed once. */
  renewAt: number;
}

export class InFlight {
  readonly #flights = new Map<string, Flight>();

  get size(): number {
    return this.#flights.size;
  }

  get ids(): string[] {
    return [...this.#flights.keys()];
  }

  get keys(): string[] {
    return [...this.#flights.values()].flatMap(({ job }) => job.key ?? []);
  }

  /** When the first lease is to be renewed. */
  get renewAt(): number {
    return Math.min(...[...this.#flights.values()].map(({ renewAt }) => renewAt));
  }

  add(job: ClaimedJob, definition: JobDefinition, now: Date): void {
    this.#flights.set(job.id, { job, definition, renewAt: half(definition, now) });
  }

  remove(job: ClaimedJob): void {
    this.#flights.delete(job.id);
  }

  /** The moves that renew what is to be renewed now. Asked for again until `renewed` is told. */
  renewals(now: Date): Move[] {
    return this.#stale(now).map(({ job, definition }) => {
      const run_at = leaseEnd(definition, now).toISOString();
      return { id: job.id, claimed: job.claims, run_at, attempts: job.attempts };
    });
  }

  renewed(now: Date): void {
    for (const flight of this.#stale(now)) {
      flight.renewAt = half(flight.definition, now);
    }
  }

  #stale(now: Date): Flight[] {
    return [...this.#flights.values()].filter(({ renewAt }) => renewAt <= now.getTime());
  }
}

function half(definition: JobDefinition, now: Date): number {
  return (now.getTime() + leaseEnd(definition, now).getTime()) / 2;
}
