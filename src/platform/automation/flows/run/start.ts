/** Starts runs of flows, within limits. */
import { sql } from "kysely";
import { fail } from "../../../../../tools/errors.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { together } from "../../../../database/transaction.ts";
import { newJob } from "../../../../jobs/job.ts";
import { freshId, type OrganizationChange, type Transaction } from "../../../foundation/kernel/index.ts";
import type { ConversationRow } from "../../../inbox/conversations/index.ts";
import { lostScopes } from "../authority/index.ts";
import { type FlowWithVersion, getFlow } from "../definitions/find.ts";
import { toGraph } from "../graph/index.ts";
import { advanceJobType } from "./job-types.ts";
import { beginRun, type RunState } from "./machine.ts";
import { type RunKey, type RunRow, selectActiveRuns } from "./rows.ts";

/**
 * The most runs for one contact in an hour. A person who converses with a flow starts it once or a few times.
 * More runs mean a loop, such as two services that answer each other, or flows that start each other.
 */
export const maxRunsPerHour = { ofOneFlow: 10, inAll: 30 } as const;

/** Why a flow is not started. */
export type SkipReason = "flow_deleted" | "started_before" | "interactive_run_active" | "too_many_runs";

export interface NewRun {
  readonly flow: FlowWithVersion;
  /** Locked until the commit. */
  readonly conversation: ConversationRow;
  readonly trigger_type: RunRow["trigger_type"];
  /** Identifies an event, which starts each flow once. */
  readonly trigger_key: string | null;
  /** The message that starts the run. */
  readonly message_id: string | null;
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

/** Inserts a run and enqueues its first step, or returns why it did not. */
export async function startRun(
  change: OrganizationChange,
  newRun: NewRun,
): Promise<{ readonly run_id: string } | SkippedStart> {
  const inserted = await insertRun(change, newRun);
  if ("skipped" in inserted) {
    return inserted;
  }
  await change.tx.enqueue([createAdvanceJob(inserted)]);
  return inserted;
}

interface SkippedStart {
  readonly skipped: SkipReason;
  /** The id of the active run that prevents the start. */
  readonly run_id?: string;
}

/** Like `startRun`, for a caller that runs the first step itself. */
export async function insertRun(
  { tx, now, organization }: OrganizationChange,
  { flow: found, conversation, trigger_type, trigger_key, message_id }: NewRun,
): Promise<RunKey | SkippedStart> {
  const { contact_id, id: conversation_id } = conversation;
  const [flow, hasTooMany, active] = await together(
    lockVersion(tx, found),
    hasTooManyRuns(tx, { organization, contact_id, flow_id: found.id, now }),
    findInteractiveRun(tx, organization, conversation_id),
  );
  if (!flow) {
    return { skipped: "flow_deleted" };
  }
  const { is_interactive } = flow;
  if (is_interactive && active) {
    return { skipped: "interactive_run_active", run_id: active.id };
  }
  if (hasTooMany) {
    return { skipped: "too_many_runs" };
  }
  const newRun = { flow, conversation, trigger_type, trigger_key, message_id };
  const inserted = await insert({ tx, now, organization }, newRun, beginRun(toGraph(flow.nodes)));
  return inserted
    ? { organization_id: organization, conversation_id, contact_id, run_id: inserted.id }
    : { skipped: "started_before" };
}

/**
 * The reason of a run that was not started. Such a run counts towards no limit, because a message can cause
 * one for each flow.
 */
export const patternTimeout = "pattern_timeout";

/** Records that a flow was not started, because matching its regular expression took too long. */
export async function recordTimeout(
  change: Pick<OrganizationChange, "tx" | "now" | "organization">,
  newRun: NewRun,
): Promise<void> {
  const state = { ...beginRun(toGraph([])), status: "failed", reason: patternTimeout } as const;
  await insert(change, newRun, state);
}

/** Returns undefined if the event has started the flow before. */
async function insert(
  { tx, now, organization }: Pick<OrganizationChange, "tx" | "now" | "organization">,
  { flow, conversation, ...trigger }: NewRun,
  { pending, variables, ...state }: RunState,
) {
  const at = now.toISOString();
  const isOver = state.status === "failed";
  return tx
    .insertInto("flow_runs")
    .values({
      organization_id: organization,
      id: freshId({ now }, "run"),
      flow_id: flow.id,
      version: flow.version,
      is_interactive: flow.is_interactive,
      conversation_id: conversation.id,
      contact_id: conversation.contact_id,
      ...trigger,
      ...state,
      wait: null,
      pending: JSON.stringify(pending),
      variables: JSON.stringify(variables),
      created_at: at,
      ended_at: isOver ? at : null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
}

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

/** The active run that may wait for a reply of the contact. */
async function findInteractiveRun(tx: Transaction, organization: string, conversation_id: string) {
  return selectActiveRuns(tx, organization, conversation_id)
    .where("is_interactive", "=", true)
    .executeTakeFirst();
}

/** The job that runs the next nodes. The jobs of a conversation run in order. */
export function createAdvanceJob(key: RunKey) {
  return newJob(advanceJobType, key, { key: `flow:${key.conversation_id}`, subject: key.conversation_id });
}

async function hasTooManyRuns(
  tx: Transaction,
  {
    organization,
    contact_id,
    flow_id,
    now,
  }: {
    readonly organization: string;
    readonly contact_id: string;
    readonly flow_id: string;
    readonly now: Date;
  },
): Promise<boolean> {
  const since = new Date(now.getTime() - 3_600_000).toISOString();
  const { in_all, of_one } = await ofOrganization(tx, organization)
    .selectFrom("flow_runs")
    .select([
      sql<number>`count(*)`.as("in_all"),
      sql<number>`count(*) filter (where flow_id = ${flow_id})`.as("of_one"),
    ])
    .where("contact_id", "=", contact_id)
    .where("created_at", ">", since)
    .where("reason", "is distinct from", patternTimeout)
    .executeTakeFirstOrThrow();
  return of_one >= maxRunsPerHour.ofOneFlow || in_all >= maxRunsPerHour.inAll;
}
