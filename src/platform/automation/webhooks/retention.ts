/** Deletes events and their deliveries. */
import { defineRetentionJob } from "../../foundation/kernel/index.ts";
import { polledDays } from "./reading/index.ts";

/** How far back `recover_webhook_deliveries` may go. */
export const recoverableDays = 14;

/**
 * The setting is at least 17 days, so that a delivery recovered at the last moment keeps its retries of three
 * days.
 */
const days = "events";

export const deleteOldEventsJob = defineRetentionJob({
  name: "event.forget",
  schedule: "47 * * * *",
  rules: [
    { table: "webhook_deliveries", column: "created_at", days },
    { table: "events", column: "created_at", days },
    { table: "polled_events", column: "polled_at", days: polledDays },
  ],
});
