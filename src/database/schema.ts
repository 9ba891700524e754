/** The tables as the query layer sees them. Times are ISO 8601 strings in, and out in UTC. */
import type { AccountTables } from "./schema/account.ts";
import type { InboxTables } from "./schema/inbox.ts";
import type { MachineryTables } from "./schema/machinery.ts";

export interface Tables extends AccountTables, InboxTables, MachineryTables {}
