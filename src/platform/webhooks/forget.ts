/** Forgets old events with their deliveries: a day after the last that can be recovered. */
import type { ModuleJob } from "../kernel/index.ts";

const day = 24 * 3_600_000;

/** How far back `recover_webhook_deliveries` goes. */
export const recoverableDays = 14;

const keptMs = (recoverableDays + 1) * day;

export const forgetEvents: ModuleJob<unknown> = {
  name: "event.forget",
  schedule: "47 * * * *",

  async run(_, { database, now }) {
    const before = new Date(now().getTime() - keptMs).toISOString();
    await database.queries.deleteFrom("webhook_deliveries").where("created_at", "<", before).execute();
    await database.queries.deleteFrom("events").where("created_at", "<", before).execute();
    return undefined;
  },
};
