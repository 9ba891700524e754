/** Keeps a template from a new review while messages wait that it was used for: they could not be sent. */
import { fail } from "../../../../../tools/errors.ts";
import { onlyRow, rowsOf } from "../../../../database/query/index.ts";
import { storedLanes } from "../../../../jobs/priority.ts";
import { laneOf } from "../../../account/inboxes/index.ts";
import type { Change } from "../../../foundation/kernel/index.ts";
import { deliverMessageJob } from "./deliver.ts";

/** Few messages wait at a time, and the lane of their inbox finds them; an index of messages would slow each of them. */
export async function requireNoneWaiting(
  { tx }: Change,
  {
    organization,
    inbox_id,
    template_id,
  }: { readonly organization: string; readonly inbox_id: string; readonly template_id: string },
): Promise<void> {
  const { rows } = await rowsOf({ count: "integer" })`
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
}
