/** Keeps a template from a new review while messages wait that it was used for: they could not be sent. */
import { sql } from "kysely";
import { fail } from "../../../tools/errors.ts";
import { onlyRow } from "../../database/query/index.ts";
import { storedLanes } from "../../jobs/priority.ts";
import { laneOf } from "../inboxes/index.ts";
import type { Hooks } from "../kernel/index.ts";
import { deliverMessageJob } from "./deliver.ts";

/** Few messages wait at a time, and the lane of their inbox finds them; an index of messages would slow each of them. */
export const requireNoneWaiting: Hooks["templateWithdrawn"] = async (
  { tx },
  { organization, inbox_id, template_id },
) => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count
    from jobs
    join messages on messages.organization_id = ${organization} and messages.id = jobs.payload ->> 'message_id'
    where jobs.lane = any(${storedLanes(laneOf(inbox_id))}::text[]) and jobs.name = ${deliverMessageJob.name}
      and messages.status in ('queued', 'sending') and messages.content #>> '{template,id}' = ${template_id}
  `.execute(tx);
  const { count } = onlyRow(rows);
  if (count > 0) {
    throw fail("template_in_use", { uses: count === 1 ? "1 message is" : `${count} messages are`, count });
  }
};
