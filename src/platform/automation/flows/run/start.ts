/** Starts runs of flows, within limits. */
import { sql } from "kysely";
import { fail } from "../../../../../tools/errors.ts";
import { columnsOf, nullable, ofOrganization, recordset, rowsOf } from "../../../../database/query/index.ts";
import { together } from "../../../../database/transaction.ts";
import { newJob } from "../../../../jobs/job.ts";
import { freshId, type OrganizationChange, type Transaction } from "../../../foundation/kernel/index.ts";
import type { ConversationRow } from "../../../inbox/conversations/index.ts";
import { lostScopes } from "../authority/index.ts";
import { type FlowWithVersion, getFlow } from "../definitions/find.ts";
import { toGraph } from "../graph/index.ts";
import { advanceJobType } from "./job-types.ts";
import { beginRun, type RunState } from "./machine.ts";
import type { RunKey, RunRow } from "./rows.ts";

/**
 * The most runs for one contact in an hour. A person who converses with a flow starts it once or a few times.
 * More runs mean a loop, such as two services that answer each other, or flows that start each other.
 */
export const maxRunsPerHour = { ofOneFlow: 10, inAll: 30 } as const;

/** Why a flow is not started. */
export type SkipReason = "flow_deleted" | "started_before" | "interactive_run_active" | "too_many_runs";

/** What starts a run. */
interface NewRun {
  /** Locked until the commit. */
  readonly conversation: ConversationRow;
  /** Identifies an event, which starts each flow once. */
  readonly trigger_key: string | null;
  /** The message that starts the run. */
  readonly message_id: string | null;
}

/** Runs of one flow, each in another conversation. */
interface NewRuns {
  readonly flow: FlowWithVersion;
  readonly trigger_type: RunRow["trigger_type"];
  readonly starts: readonly NewRun[];
}

/** @throws Failure `flow_disabled`, `flow_not_startable`. */
export function requireStartable(
  { is_enabled, inbox_id, ...authority }: FlowWithVersion,
  conversation: Pick<ConversationRow, "inbox_id" | "status">,
): void {
  if (!is_enabled || lostScopes(authority).length > 0) {
    throw fail("flow_disabled");
  }
  if (inbox_id !== null && inbox_id !== conversation.inbox_id) {
    throw fail("flow_not_startable", { reason: "it is restricted to another inbox." });
  }
  if (conversation.status === "spam") {
    throw fail("flow_not_startable", { reason: "the conversation is spam." });
  }
}

/** Inserts runs and enqueues their first steps, or returns why it did not. */
export async function startRuns(
  change: OrganizationChange,
  runs: NewRuns,
): Promise<readonly (RunKey | SkippedStart)[]> {
  const inserted = await insertRuns(change, runs);
  const started = inserted.flatMap((one) => ("skipped" in one ? [] : one));
  await change.tx.enqueue(started.map(createAdvanceJob));
  return inserted;
}

/** The same for one run. */
export async function startRun(
  change: OrganizationChange,
  { flow, trigger_type, ...start }: Omit<NewRuns, "starts"> & NewRun,
): Promise<RunKey | SkippedStart> {
  const [started] = await startRuns(change, { flow, trigger_type, starts: [start] });
  return started ?? { skipped: "flow_deleted" };
}

interface SkippedStart {
  readonly skipped: SkipReason;
  /** The id of the active run that prevents the start. */
  readonly run_id?: string | undefined;
}

/**
 * Like `startRuns`, for a caller that runs the first steps itself. The results are in the order of `starts`.
 */
export async function insertRuns(
  change: OrganizationChange,
  { flow: found, trigger_type, starts }: NewRuns,
): Promise<readonly (RunKey | SkippedStart)[]> {
  if (starts.length === 0) {
    return [];
  }
  const { tx, organization: organization_id } = change;
  const [flow, skipOf] = await together(lockVersion(tx, found), findObstacles(change, found.id, starts));
  if (!flow) {
    return starts.map(() => ({ skipped: "flow_deleted" }));
  }
  const skips = new Map(starts.map((start) => [start, skipOf(start, flow)]));
  const free = starts.filter((start) => skips.get(start) === undefined);
  const runs = { flow, trigger_type, starts: free };
  const idOf = await insert(change, runs, beginRun(toGraph(flow.nodes)));
  return starts.map((start) => {
    const skipped = skips.get(start);
    const run_id = idOf.get(start);
    const { contact_id, id: conversation_id } = start.conversation;
    return (
      skipped ??
      (run_id === undefined
        ? { skipped: "started_before" }
        : { organization_id, conversation_id, contact_id, run_id })
    );
  });
}

/**
 * The reason of a run that was not started. Such a run counts towards no limit, because a message can cause
 * one for each flow.
 */
export const patternTimeout = "pattern_timeout";

/** Records that a flow was not started, because matching its regular expression took too long. */
export async function recordTimeout(change: OrganizationChange, runs: NewRuns): Promise<void> {
  const state = { ...beginRun(toGraph([])), status: "failed", reason: patternTimeout } as const;
  await insert(change, runs, state);
}

/** Returns the ids of the runs. An event that has started the flow before has none. */
async function insert(
  { tx, now, organization }: OrganizationChange,
  { flow, trigger_type, starts }: NewRuns,
  state: RunState,
): Promise<ReadonlyMap<NewRun, string>> {
  if (starts.length === 0) {
    return new Map();
  }
  const at = now.toISOString();
  const isOver = state.status === "failed";
  const ids = new Map(starts.map((start) => [start, freshId({ now }, "run")]));
  const rows = [...ids].map(([{ conversation, ...trigger }, id]) => ({
    organization_id: organization,
    id,
    flow_id: flow.id,
    version: flow.version,
    is_interactive: flow.is_interactive,
    conversation_id: conversation.id,
    contact_id: conversation.contact_id,
    trigger_type,
    ...trigger,
    ...state,
    created_at: at,
    ended_at: isOver ? at : null,
  }));
  const { rows: inserted } = await rowsOf(columnsOf("flow_runs", "id"))`
    insert into flow_runs (${newColumnNames})
    select ${newColumnNames} from ${recordset("new", newColumns, rows)}
    on conflict do nothing
    returning id
  `.execute(tx);
  const stored = new Set(inserted.map(({ id }) => id));
  return new Map([...ids].filter(([, id]) => stored.has(id)));
}

const newColumns = columnsOf(
  "flow_runs",
  "organization_id",
  "id",
  "flow_id",
  "version",
  "is_interactive",
  "conversation_id",
  "contact_id",
  "trigger_type",
  "trigger_key",
  "message_id",
  "status",
  "reason",
  "pending",
  "steps",
  "variables",
  "due_at",
  "episode",
  "created_at",
  "ended_at",
);

const newColumnNames = sql.join(Object.keys(newColumns).map((name) => sql.ref(name)));

/** Prevents until the commit that the flow's present version is replaced or deleted. */
export async function lockVersion(
  tx: Transaction,
  flow: FlowWithVersion,
): Promise<FlowWithVersion | undefined> {
  const { organization_id, id } = flow;
  const locked = await ofOrganization(tx, organization_id)
    .selectFrom("flows")
    .select("version")
    .where("id", "=", id)
    .forKeyShare()
    .executeTakeFirst();
  return locked && (locked.version === flow.version ? flow : getFlow(tx, organization_id, id));
}

/** The job that runs the next nodes. The jobs of a conversation run in order. */
export function createAdvanceJob(key: RunKey) {
  return newJob(advanceJobType, key, { key: `flow:${key.conversation_id}`, subject: key.conversation_id });
}

/** Returns the function that returns what prevents a start: an interactive run, or too many runs. */
async function findObstacles(
  { tx, now, organization }: OrganizationChange,
  flow_id: string,
  starts: readonly NewRun[],
): Promise<(start: NewRun, flow: FlowWithVersion) => SkippedStart | undefined> {
  const since = new Date(now.getTime() - 3_600_000).toISOString();
  const contact_ids = [...new Set(starts.map(({ conversation }) => conversation.contact_id))];
  const conversation_ids = starts.map(({ conversation }) => conversation.id);
  const { rows } = await rowsOf({ id: "text", run_id: nullable("text") })`
    select contact_id as id, null as run_id from flow_runs
    where organization_id = ${organization} and contact_id = any(${contact_ids}::text[]) and created_at > ${since}
      and reason is distinct from ${patternTimeout}
    group by contact_id
    having count(*) >= ${maxRunsPerHour.inAll} or count(*) filter (where flow_id = ${flow_id}) >= ${maxRunsPerHour.ofOneFlow}
    union all
    select conversation_id, id from flow_runs
    where organization_id = ${organization} and conversation_id = any(${conversation_ids}::text[])
      and status in ('running', 'waiting') and is_interactive
  `.execute(tx);
  const found = new Map(rows.map(({ id, run_id }) => [id, run_id]));
  return ({ conversation: { id, contact_id } }, { is_interactive }) => {
    const run_id = found.get(id) ?? undefined;
    if (is_interactive && run_id !== undefined) {
      return { skipped: "interactive_run_active", run_id };
    }
    return found.has(contact_id) ? { skipped: "too_many_runs" } : undefined;
  };
}
