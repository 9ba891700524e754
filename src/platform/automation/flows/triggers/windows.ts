/**
 * Emits events for service windows that expire in two hours, as long as a flow reacts to the event.
 *
 * The time up to which windows were reported is stored in the transaction of the events, so each window is
 * reported once. If the service was down or no flow reacted meanwhile, windows that are still open are
 * reported late.
 */
import { sql } from "kysely";
import { ofOrganization, rowsOf } from "../../../../database/query/index.ts";
import { channelsThat } from "../../../account/inboxes/index.ts";
import { defineScheduledJob, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import { windowMs } from "../../../inbox/conversations/index.ts";

/** How long before its end a window is reported. */
const leadMs = 2 * 3_600_000;

const batchSize = 500;

export const sweepWindowsJob = defineScheduledJob({
  name: "flow.sweep_windows",
  schedule: "* * * * *",

  async run(world) {
    const organizations = await world.database.queries
      .selectFrom("flows")
      .select("organization_id")
      .distinct()
      .where("is_enabled", "=", true)
      .where("trigger_event_type", "=", "window.expiring")
      .execute();
    for (const { organization_id } of organizations) {
      while (await world.database.transaction((tx) => reportWindows(tx, world, organization_id))) {
        // Continues with the next batch.
      }
    }
  },
});

/** Returns whether there may be more windows to report. */
async function reportWindows(tx: Transaction, world: World, organization_id: string): Promise<boolean> {
  const now = world.now().getTime();
  // Windows that were opened before this time are closed.
  const oldest = new Date(now - windowMs).toISOString();
  const due = new Date(now - windowMs + leadMs).toISOString();
  const { opened_until } = await tx
    .insertInto("flow_window_sweeps")
    .values({ organization_id, opened_until: oldest })
    .onConflict((conflict) =>
      conflict.column("organization_id").doUpdateSet({
        opened_until: sql`greatest(flow_window_sweeps.opened_until, excluded.opened_until)`,
      }),
    )
    .returning("opened_until")
    .executeTakeFirstOrThrow();
  const withWindow = channelsThat(world, ({ hasWindow }) => hasWindow);
  // With ties, so that the last time of a batch is complete.
  const { rows } = await rowsOf({ id: "text", last_user_message_at: "timestamptz" })`
    select id, last_user_message_at from conversations
    where organization_id = ${organization_id} and erased_at is null
      and last_user_message_at > ${opened_until} and last_user_message_at <= ${due}
      and status in ('open', 'pending', 'snoozed')
      and inbox_id in (
        select id from inboxes where organization_id = ${organization_id} and channel = any(${withWindow}::text[])
      )
    order by last_user_message_at fetch first ${sql.lit(batchSize)} rows with ties
  `.execute(tx);
  for (const { id: conversation_id, last_user_message_at } of rows) {
    const data = { conversation_id, last_user_message_at };
    tx.emit({ type: "window.expiring", organization_id, order: conversation_id, data });
  }
  const isMore = rows.length >= batchSize;
  const reported = isMore ? rows.at(-1)?.last_user_message_at : undefined;
  await ofOrganization(tx, organization_id)
    .updateTable("flow_window_sweeps")
    .set({ opened_until: reported ?? due })
    .execute();
  return isMore;
}
