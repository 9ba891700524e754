/** Enqueues the job that starts flows, in the transaction of an event, if a flow may react to it. */
import { recordset, rowsOf } from "../../../../database/query/index.ts";
import { newJob } from "../../../../jobs/job.ts";
import type { EventRecorder } from "../../../foundation/kernel/index.ts";
import { sourceOf } from "./sources.ts";
import { triggerJob } from "./trigger.ts";
import { triggerContactJob } from "./trigger-contact.ts";

const wantedColumns = {
  place: "integer",
  organization_id: "text",
  type: "text",
  conversation_id: "text",
  is_message: "boolean",
} as const;

/**
 * One look-up for each transaction with such an event. Without a matching flow, and without a run that waits
 * for a reply, nothing is enqueued.
 */
export const recordTriggers: EventRecorder = async (tx, emissions) => {
  const found = emissions.flatMap(({ event }) => {
    const source = sourceOf(event);
    return source ? [{ event, source }] : [];
  });
  const wanted = found.map(({ event: { organization_id, type }, source }, place) => {
    const of =
      "contact_id" in source
        ? { conversation_id: null, is_message: false }
        : { conversation_id: source.conversation_id, is_message: source.message_id !== null };
    return { place, organization_id, type, ...of };
  });
  if (wanted.length === 0) {
    return [];
  }
  const { rows } = await rowsOf({ place: "integer" })`
    select place from ${recordset("wanted", wantedColumns, wanted)}
    where exists (
      select from flows where flows.organization_id = wanted.organization_id and flows.is_enabled
        and flows.trigger_type = 'event' and flows.trigger_event_type = wanted.type
    ) or wanted.is_message and (exists (
      select from flows where flows.organization_id = wanted.organization_id and flows.is_enabled
        and flows.trigger_type = 'keyword'
    ) or exists (
      select from flow_runs where flow_runs.organization_id = wanted.organization_id
        and flow_runs.conversation_id = wanted.conversation_id and flow_runs.status in ('running', 'waiting')
    ))
    order by place
  `.execute(tx);
  return rows.flatMap(({ place }) => {
    const one = found[place];
    if (!one) {
      return [];
    }
    const { event, source } = one;
    const { organization_id, id: event_id, type } = event;
    const context = { organization_id, event_id, event_type: type };
    if ("contact_id" in source) {
      const payload = { ...context, tags: [], ...source };
      return [newJob(triggerContactJob, payload, { key: `flow:${source.contact_id}` })];
    }
    const { conversation_id } = source;
    const payload = { ...context, ...source };
    return [newJob(triggerJob, payload, { key: `flow:${conversation_id}`, subject: conversation_id })];
  });
};
