/** Connections of PostgreSQL that break while plans run. */
import { sql } from "kysely";
import type { TestApp } from "./app.ts";

/** As if a process died: its transaction is rolled back, or it never learns that it was committed. */
export const cutConnections = (app: TestApp) =>
  sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query ilike '%plan%' and state <> 'idle'
  `.execute(app.server.database.queries);
