/** Jobs of modules: a job definition whose functions also take the world. */
import { z } from "zod";
import type { Tables } from "../../../database/schema/index.ts";
import type { Attempt, JobType, Outcome } from "../../../jobs/job.ts";
import type { RetentionDays } from "../../../ports/limits.ts";
import type { World } from "./context.ts";

/** How long a table's rows are kept. */
export interface Retention {
  readonly table: keyof Tables;
  /** The time from which a row's age counts. */
  readonly column: string;
  /**
   * A number of days, or the name of the setting with this number. 0: the time is the end of the row's use.
   */
  readonly days: number | keyof RetentionDays;
}

/** A `JobDefinition` whose functions also take the world. */
export interface ModuleJob<Payload = unknown> extends JobType<Payload> {
  readonly maxAttempts?: number;
  readonly leaseMs?: number;
  readonly slots?: number;
  readonly yieldsAfterMs?: number;
  readonly schedule?: string;
  /** The rows that a job of `defineRetentionJob` deletes. */
  readonly retention?: readonly Retention[];
  /**
   * Whether the job also runs for an erased record, to end what was begun. By default, the erasure deletes
   * waiting jobs of the record.
   */
  readonly isKeptByErasure?: boolean;
  run(payload: Payload, world: World, attempt: Attempt): Promise<Outcome>;
  exhausted?(payload: Payload, world: World, error: unknown): Promise<void>;
}

interface JobParts<Payload> extends Omit<ModuleJob<Payload>, "payload" | "schedule"> {
  readonly payload: z.ZodType<Payload>;
}

/** A job that is enqueued with a payload; `payload` is its schema. */
export function defineJob<Payload>(parts: JobParts<Payload>): ModuleJob<Payload> {
  return parts;
}

interface ScheduledJobParts {
  readonly name: string;
  /** A cron pattern of five fields, in UTC. */
  readonly schedule: string;
  run(world: World): Promise<void>;
}

/** A job without a payload that is added automatically. */
export function defineScheduledJob({ name, schedule, run }: ScheduledJobParts): ModuleJob {
  return {
    name,
    schedule,
    payload: z.unknown(),
    async run(_, world) {
      await run(world);
      return undefined;
    },
  };
}
