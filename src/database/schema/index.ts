/** The tables as the query layer sees them. Times are ISO 8601 strings in, and out in UTC. */
import type { AccountTables } from "./account.ts";
import type { InboxTables } from "./inbox.ts";
import type { MachineryTables } from "./machinery.ts";

export interface Tables extends AccountTables, InboxTables, MachineryTables {}
