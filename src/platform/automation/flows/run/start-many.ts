/** Starts runs of one flow in many conversations with a few statements. */
import { rowsOf } from "../../../../database/query/index.ts";
import { freshId, type OrganizationChange } from "../../../foundation/kernel/index.ts";
import type { ConversationRow } from "../../../inbox/conversations/index.ts";
import type { FlowWithVersion } from "../definitions/find.ts";
import { toGraph } from "../graph/index.ts";
import { beginRun } from "./machine.ts";
import type { RunRow } from "./rows.ts";
import { createAdvanceJob, lockVersion, maxRunsPerHour, patternTimeout } from "./start.ts";

interface Start {
  /** Locked until the commit. */
  readonly conversation: ConversationRow;
  readonly trigger_key: string;
}

/** Applies the limits of `startRun`. Returns how many runs were started. */
export async function startRuns(
  change: OrganizationChange,
  found: FlowWithVersion,
  {
    trigger_type,
    starts,
  }: { readonly trigger_type: RunRow["trigger_type"]; readonly starts: readonly Start[] },
): Promise<number> {
  const { tx, now, organization: organization_id } = change;
  const flow = starts.length > 0 ? await lockVersion(tx, found) : undefined;
  const free = flow ? await selectFree(change, flow, starts) : [];
  if (!flow || free.length === 0) {
    return 0;
  }
  const { pending, variables, ...state } = beginRun(toGraph(flow.nodes));
  const inserted = await tx
    .insertInto("flow_runs")
    .values(
      free.map(({ conversation: { id: conversation_id, contact_id }, trigger_key }) => ({
        organization_id,
        id: freshId({ now }, "run"),
        flow_id: flow.id,
        version: flow.version,
        conversation_id,
        contact_id,
        trigger_type,
        trigger_key,
        message_id: null,
        is_interactive: flow.is_interactive,
        ...state,
        wait: null,
        pending: JSON.stringify(pending),
        variables: JSON.stringify(variables),
        created_at: now.toISOString(),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(["id as run_id", "conversation_id", "contact_id"])
    .execute();
  await tx.enqueue(inserted.map((run) => createAdvanceJob({ organization_id, ...run })));
  return inserted.length;
}

/** Drops conversations in which another flow waits for replies, and contacts with too many runs. */
async function selectFree(
  { tx, now, organization }: OrganizationChange,
  { id: flow_id, is_interactive }: FlowWithVersion,
  starts: readonly Start[],
): Promise<readonly Start[]> {
  const since = new Date(now.getTime() - 3_600_000).toISOString();
  const contact_ids = [...new Set(starts.map(({ conversation }) => conversation.contact_id))];
  const conversation_ids = is_interactive ? starts.map(({ conversation }) => conversation.id) : [];
  const { rows } = await rowsOf({ id: "text" })`
    select contact_id as id from flow_runs
    where organization_id = ${organization} and contact_id = any(${contact_ids}::text[]) and created_at > ${since}
      and reason is distinct from ${patternTimeout}
    group by contact_id
    having count(*) >= ${maxRunsPerHour.inAll} or count(*) filter (where flow_id = ${flow_id}) >= ${maxRunsPerHour.ofOneFlow}
    union all
    select conversation_id from flow_runs
    where organization_id = ${organization} and conversation_id = any(${conversation_ids}::text[])
      and status in ('running', 'waiting') and is_interactive
  `.execute(tx);
  const taken = new Set(rows.map(({ id }) => id));
  return starts.filter(({ conversation: { id, contact_id } }) => !taken.has(id) && !taken.has(contact_id));
}
