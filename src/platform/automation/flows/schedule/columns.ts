/**
 * The columns of a schedule: their checks when a flow is saved, and the check that keeps a cohort that a
 * schedule needs.
 */
import { fail, failField } from "../../../../../tools/errors.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { firstInstantOf } from "../../../../time/zone.ts";
import type { Change, Transaction } from "../../../foundation/kernel/index.ts";
import { requireCohort } from "../../cohorts/index.ts";
import type { FlowRow } from "../definitions/find.ts";
import { isPattern, nextTime } from "./next-time.ts";

export interface Schedule {
  readonly trigger_schedule?: string | undefined;
  readonly trigger_schedule_at?: string | undefined;
  readonly trigger_schedule_timezone?: string | undefined;
  readonly settings?: { readonly cohort_id?: string | undefined } | undefined;
}

/** Converts a time that ends with Z, or a local time of the zone, to an instant. */
export function toInstant(time: string, zone: string): string {
  return time.endsWith("Z") ? time : new Date(firstInstantOf(zone, Date.parse(`${time}Z`))).toISOString();
}

/** Checks the schedule of a request. @throws Failure `flow_invalid`, `cohort_not_found`. */
export async function requireSchedule(
  tx: Transaction,
  { trigger_schedule_at, settings }: Schedule,
  { organization, now }: { readonly organization: string; readonly now: Date },
): Promise<void> {
  if (trigger_schedule_at !== undefined && Date.parse(trigger_schedule_at) <= now.getTime()) {
    throw failField("trigger_schedule_at", "flow_invalid", { reason: "trigger_schedule_at is in the past." });
  }
  if (settings?.cohort_id !== undefined) {
    await requireCohort(tx, organization, settings.cohort_id);
  }
}

/**
 * The stored schedule without the parts that a request replaces: a new pattern replaces a time, and a new
 * time replaces a pattern.
 */
export function storedSchedule(flow: FlowRow, changes: Schedule): Schedule {
  const { trigger_schedule, trigger_schedule_at, trigger_schedule_timezone, cohort_id } = flow;
  const isReplaced = changes.trigger_schedule !== undefined || changes.trigger_schedule_at !== undefined;
  return {
    ...(isReplaced || trigger_schedule === null ? {} : { trigger_schedule }),
    ...(isReplaced || trigger_schedule_at === null ? {} : { trigger_schedule_at }),
    ...(trigger_schedule_timezone === null ? {} : { trigger_schedule_timezone }),
    ...(cohort_id === null ? {} : { settings: { cohort_id } }),
  };
}

/** @throws Failure `flow_invalid`. */
export function scheduleColumns(schedule: Schedule, now: Date) {
  const { trigger_schedule = null, trigger_schedule_at = null, settings } = schedule;
  const { trigger_schedule_timezone = "UTC" } = schedule;
  if (trigger_schedule !== null) {
    requirePattern(trigger_schedule, trigger_schedule_timezone, now);
  }
  const cohort_id = settings?.cohort_id ?? null;
  return { trigger_schedule, trigger_schedule_at, trigger_schedule_timezone, cohort_id };
}

function requirePattern(pattern: string, zone: string, now: Date): void {
  if (!isPattern(pattern)) {
    const reason =
      'trigger_schedule must be five fields of cron: minute, hour, day of the month, month, day of the week; for example "30 9 * * 1-5".';
    throw failField("trigger_schedule", "flow_invalid", { reason });
  }
  if (nextTime(pattern, zone, now) === null) {
    throw failField("trigger_schedule", "flow_invalid", { reason: "trigger_schedule matches no time." });
  }
}

/** Rejects the deletion of a cohort that a schedule uses as its audience. */
export async function requireNoFlow(
  { tx }: Change,
  { organization, cohort_id }: { readonly organization: string; readonly cohort_id: string },
): Promise<void> {
  const { count } = await ofOrganization(tx, organization)
    .selectFrom("flows")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("cohort_id", "=", cohort_id)
    .executeTakeFirstOrThrow();
  if (count > 0) {
    const uses = `${count === 1 ? "1 flow is" : `${count} flows are`} started by a schedule`;
    throw fail("cohort_in_use", { uses, count });
  }
}
