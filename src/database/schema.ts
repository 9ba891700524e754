/** The types of the tables for Kysely. Times are written as ISO 8601 strings and read as ISO 8601 strings in UTC. */
import type { AccountTables } from "./schema/account.ts";
import type { InboxTables } from "./schema/inbox.ts";
import type { JobTables } from "./schema/jobs.ts";
import type { SimulatorTables } from "./schema/simulator.ts";
import type { WebhookTables } from "./schema/webhooks.ts";

export interface Tables extends AccountTables, InboxTables, JobTables, SimulatorTables, WebhookTables {}
