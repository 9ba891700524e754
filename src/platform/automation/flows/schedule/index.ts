/** Flows started by a schedule: their times, and the jobs that fire them. */
export { startBatchJob } from "./batch.ts";
export {
  requireNoFlow,
  requireSchedule,
  type Schedule,
  scheduleColumns,
  storedSchedule,
  toInstant,
} from "./columns.ts";
export { fireJob } from "./fire.ts";
export { nextRunAfter, reschedule } from "./reschedule.ts";
export { isSchedulingFlow } from "./scheduling.ts";
