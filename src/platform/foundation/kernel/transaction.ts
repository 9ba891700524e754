/** The transactions of handlers and jobs: their events and jobs take effect with the commit. */
import { type KyselyProps, sql } from "kysely";
import type { Event, EventData, EventName } from "../../../../tools/events.ts";
import { DatabaseTransaction } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import { together } from "../../../database/transaction.ts";
import type { Jobs, NewJob } from "../../../jobs/job.ts";
import type { Clock } from "../../../ports/clock.ts";

interface NewEvent<Name extends EventName> {
  readonly type: Name;
  readonly organization_id: string;
  /** Events with the same value are delivered one at a time, in the order in which they were emitted. */
  readonly order: string;
  readonly data: EventData<Name>;
}

export interface Emission {
  readonly event: Event;
  /** Events with the same key are delivered one at a time, in the order in which they were emitted. */
  readonly orderKey: string;
}

/** Records the events of a transaction before it commits, and returns the jobs to enqueue in it. */
export type EventRecorder = (tx: Transaction, emissions: readonly Emission[]) => Promise<readonly NewJob[]>;

/** What a transaction needs of the world. */
export interface TransactionParts {
  readonly jobs: Pick<Jobs, "enqueue">;
  readonly now: Clock;
  /**
   * Called with the events of each transaction, before it commits. None waits for another: their statements
   * are sent together, and their jobs are enqueued in this order.
   */
  readonly recorders: readonly EventRecorder[];
}

/** An open transaction of a handler or a job. */
export class Transaction extends DatabaseTransaction {
  readonly #props: KyselyProps;
  readonly #parts: TransactionParts;
  readonly #emissions: Emission[] = [];

  constructor(props: KyselyProps, parts: TransactionParts) {
    super(props);
    this.#props = props;
    this.#parts = parts;
  }

  /**
   * Runs `work` in a savepoint. If it fails, its statements, its events and its jobs are dropped, and the
   * transaction can go on.
   */
  async inSavepoint<Result>(work: (part: Transaction) => Promise<Result>): Promise<Result> {
    const part = new Transaction(this.#props, this.#parts);
    await sql`savepoint part`.execute(this);
    try {
      const result = await work(part);
      await sql`release savepoint part`.execute(this);
      this.takeOver(part);
      return result;
    } catch (error) {
      await sql`rollback to savepoint part`.execute(this);
      throw error;
    }
  }

  /** Runs `step` in a savepoint, rolls it back, and returns its result. @throws the error of the step. */
  async rehearse<Result>(step: (part: Transaction) => Promise<Result>): Promise<Result> {
    await sql`savepoint part`.execute(this);
    try {
      return await step(new Transaction(this.#props, this.#parts));
    } finally {
      await sql`rollback to savepoint part`.execute(this);
    }
  }

  /** Records an event. The events of a transaction are written together, just before its commit. */
  emit<Name extends EventName>({ order, ...newEvent }: NewEvent<Name>): void {
    const now = this.#parts.now();
    const event: Event<Name> = { id: newId("evt", now), created_at: now.toISOString(), ...newEvent };
    if (this.#emissions.length === 0) {
      this.beforeCommit(() => this.#record());
    }
    this.#emissions.push({ event, orderKey: order });
  }

  /** Adds jobs, which start after the commit. */
  async enqueue(jobs: readonly NewJob[]): Promise<void> {
    await this.#parts.jobs.enqueue(this, jobs);
  }

  async #record(): Promise<void> {
    const emissions = this.#emissions.splice(0);
    const jobs = await together(...this.#parts.recorders.map((record) => record(this, emissions)));
    await this.enqueue(jobs.flat());
  }
}
