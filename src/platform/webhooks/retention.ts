/** Deletes events and their deliveries one day after they can no longer be recovered. */
import { defineScheduledJob } from "../kernel/index.ts";

const day = 24 * 3_600_000;

/** How far back `recover_webhook_deliveries` may go. */
export const recoverableDays = 14;

const retentionMs = (recoverableDays + 1) * day;

export const deleteOldEventsJob = defineScheduledJob({
  name: "event.forget",
  schedule: "47 * * * *",

  async run({ database, now }) {
    const before = new Date(now().getTime() - retentionMs).toISOString();
    await database.queries.deleteFrom("webhook_deliveries").where("created_at", "<", before).execute();
    await database.queries.deleteFrom("events").where("created_at", "<", before).execute();
  },
});
