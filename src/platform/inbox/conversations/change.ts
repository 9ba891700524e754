/**
 * Changes the status, agent or team of conversations; nothing else in the service does.
 *
 * This keeps the members' counts right: an open or pending conversation counts as load of its agent
 * in its team. The conversation is locked first, then the members. When a change frees an agent,
 * the queue is served.
 */
import { sql } from "kysely";
import { allColumnsOf, columnsOf, matchesKey, recordset, rowsOf } from "../../../database/query/index.ts";
import { together } from "../../../database/transaction.ts";
import { capacityFreed } from "../../account/users.ts";
import { type Change, isListenedTo } from "../../foundation/kernel/index.ts";
import { applyLoadChanges, countsAsLoad, type LoadChange } from "../teams/index.ts";
import { type ConversationRow, toConversationEvent } from "./find/index.ts";
import { conversationsTaken } from "./hooks.ts";

export type AssignmentState = Pick<
  ConversationRow,
  "status" | "snoozed_until" | "opens_on_answer" | "assigned_to" | "team_id" | "queued_at" | "policy_id"
>;

export interface ConversationChange {
  readonly conversation: ConversationRow;
  readonly fields: Partial<AssignmentState>;
  /** The new agent's new position in the round robin, if routing chose the agent. */
  readonly turn?: number;
}

/** Changes one conversation, which must be locked. */
export async function changeConversation(
  change: Change,
  conversation: ConversationRow,
  fields: Partial<AssignmentState>,
): Promise<ConversationRow> {
  const updated = await changeConversations(change, [{ conversation, fields }]);
  return requireUpdated(updated, conversation);
}

/**
 * Changes conversations of one organization together with the members' counts, and returns the new rows by
 * id. The conversations must be locked. So must the members if more than one is affected, because their
 * counts are updated in no particular order.
 */
export async function changeConversations(
  change: Change,
  changes: readonly ConversationChange[],
): Promise<ReadonlyMap<string, ConversationRow>> {
  const updates = changes.map(({ conversation, fields, turn }) => {
    const state = leaveQueueIfAssigned({ ...assignmentStateOf(conversation), ...fields });
    const loadChanges = loadChangesOf(conversation, { ...conversation, ...state }, turn);
    return { conversation, state, loadChanges };
  });
  const { updated, listening } = await writeUpdates(change, updates);
  await reportTaken(change, updates);
  emitChanges(
    change,
    updates.filter(({ conversation }) => listening.has(conversation.id)),
  );
  const freed = updates.flatMap(({ loadChanges }) => loadChanges).find(({ delta }) => delta < 0);
  if (freed) {
    await capacityFreed.run(change.world, change, freed.organization_id);
  }
  return updated;
}

/**
 * Takes the conversations of a team that is being deleted out of it, and returns those that now need an
 * agent. The members' counts are deleted with the team.
 */
export async function detachConversations(
  { tx }: Change,
  { organization, team_id }: { readonly organization: string; readonly team_id: string },
): Promise<readonly ConversationRow[]> {
  const { rows } = await rowsOf(allColumnsOf("conversations"))`
    with detached as (
      update conversations set team_id = null, queued_at = null, policy_id = null
      where organization_id = ${organization} and team_id = ${team_id}
      returning *
    )
    select * from detached where status = 'open' and assigned_to is null and erased_at is null
  `.execute(tx);
  return rows;
}

/** The conversation's new row. @throws Error if the conversation was not there to be updated. */
export function requireUpdated(
  updated: ReadonlyMap<string, ConversationRow>,
  { id }: { readonly id: string },
): ConversationRow {
  const conversation = updated.get(id);
  if (!conversation) {
    throw new Error(`The conversation ${id} was changed without being locked first.`);
  }
  return conversation;
}

interface ConversationUpdate {
  readonly conversation: ConversationRow;
  readonly state: AssignmentState;
  readonly loadChanges: readonly LoadChange[];
}

const stateColumns = {
  ...columnsOf(
    "conversations",
    "organization_id",
    "id",
    "status",
    "snoozed_until",
    "assigned_to",
    "team_id",
    "queued_at",
    "policy_id",
    "opens_on_answer",
  ),
  is_done: "boolean",
} as const;

/** One statement for all, because other transactions wait for the rows until the commit. */
async function writeUpdates(
  { tx, now }: Change,
  updates: readonly ConversationUpdate[],
): Promise<WrittenChanges> {
  const rows = updates.map(({ conversation: { organization_id, id }, state }) => {
    return { organization_id, id, ...state, is_done: isDone(state) };
  });
  const organizations = rows.map(({ organization_id }) => organization_id);
  const ids = rows.map(({ id }) => id);
  const writing = rowsOf({ ...allColumnsOf("conversations"), is_listened_to: "boolean" })`
    update conversations set status = state.status, snoozed_until = state.snoozed_until,
      assigned_to = state.assigned_to, team_id = state.team_id, queued_at = state.queued_at,
      policy_id = state.policy_id, opens_on_answer = state.opens_on_answer, updated_at = ${now.toISOString()}::timestamptz,
      -- A closed conversation and spam need no answer.
      waiting_since = case when state.is_done then null else waiting_since end
    from ${recordset("state", stateColumns, rows)}
    where ${matchesKey("conversations.organization_id", "state.organization_id", organizations)}
      and ${matchesKey("conversations.id", "state.id", ids)}
    returning conversations.*, ${isChangeListenedTo} as is_listened_to
  `.execute(tx);
  const loadChanges = updates.flatMap(({ loadChanges: ofOne }) => ofOne);
  const [updated] = await together(writing, applyLoadChanges(tx, loadChanges));
  const listening = updated.rows.flatMap(({ id, is_listened_to }) => (is_listened_to ? [id] : []));
  return {
    updated: new Map(updated.rows.map(({ is_listened_to: _, ...row }) => [row.id, row])),
    listening: new Set(listening),
  };
}

interface WrittenChanges {
  readonly updated: ReadonlyMap<string, ConversationRow>;
  /** The ids of the conversations in whose organization something wants the events of the change. */
  readonly listening: ReadonlySet<string>;
}

const isChangeListenedTo = isListenedTo(sql`conversations.organization_id`, [
  "conversation.opened",
  "conversation.assigned",
  "conversation.unassigned",
  "conversation.closed",
]);

/** Reports conversations that got an agent, that got a team by hand or by a flow, and that were closed. */
async function reportTaken(change: Change, updates: readonly ConversationUpdate[]): Promise<void> {
  const idsOf = (isTaken: (before: ConversationRow, after: AssignmentState) => boolean) =>
    updates
      .filter(({ conversation, state }) => isTaken(conversation, state))
      .map(({ conversation }) => conversation.id);
  const isByHand = change.actor.type !== "system";
  const assigned = idsOf(
    (before, after) =>
      (after.assigned_to !== null && after.assigned_to !== before.assigned_to) ||
      (isByHand && after.team_id !== null && after.team_id !== before.team_id),
  );
  const closed = idsOf((before, after) => after.status === "closed" && before.status !== "closed");
  const organization = updates[0]?.conversation.organization_id;
  if (organization !== undefined && assigned.length + closed.length > 0) {
    await conversationsTaken.run(change.world, change, { organization, assigned, closed });
  }
}

function emitChanges({ tx, actor }: Change, updates: readonly ConversationUpdate[]): void {
  for (const { conversation, state } of updates) {
    const { organization_id, id: order } = conversation;
    const data = toConversationEvent({ ...conversation, ...state }, actor);
    for (const type of changesOf(conversation, state)) {
      tx.emit({ type, organization_id, order, data });
    }
  }
}

function changesOf(before: AssignmentState, after: AssignmentState) {
  const hasNewStatus = after.status !== before.status;
  const hasNewAgent = after.assigned_to !== before.assigned_to;
  return [
    ...(hasNewStatus && after.status === "open" ? ["conversation.opened" as const] : []),
    ...(hasNewStatus && after.status === "closed" ? ["conversation.closed" as const] : []),
    ...(hasNewAgent && after.assigned_to !== null ? ["conversation.assigned" as const] : []),
    ...(hasNewAgent && after.assigned_to === null ? ["conversation.unassigned" as const] : []),
  ];
}

/** A conversation that has an agent, or that needs none, does not wait in a queue. */
function leaveQueueIfAssigned(state: AssignmentState): AssignmentState {
  const canWait = state.assigned_to === null && countsAsLoad(state.status);
  return canWait ? state : { ...state, queued_at: null };
}

function isDone({ status }: AssignmentState): boolean {
  return status === "closed" || status === "spam";
}

/** How the counts of the previous and of the new agent change; empty if they stay the same. */
function loadChangesOf(
  before: ConversationRow,
  after: ConversationRow,
  turn: number | undefined,
): LoadChange[] {
  const [from, to] = [loadOf(before), loadOf(after)];
  const isSame = from?.team_id === to?.team_id && from?.user_id === to?.user_id && from?.delta === to?.delta;
  const removed = from && !isSame ? [{ ...from, delta: -from.delta }] : [];
  const added = to ? [{ ...to, delta: isSame ? 0 : to.delta, turn }] : [];
  return [...removed, ...added].filter(
    (change: LoadChange) => change.delta !== 0 || change.turn !== undefined,
  );
}

/** What the conversation adds to its agent's count; undefined without an agent in a team. */
function loadOf({
  organization_id,
  status,
  team_id,
  assigned_to: user_id,
}: ConversationRow): LoadChange | undefined {
  return team_id !== null && user_id !== null
    ? { organization_id, team_id, user_id, delta: Number(countsAsLoad(status)) }
    : undefined;
}

function assignmentStateOf({
  status,
  snoozed_until,
  opens_on_answer,
  assigned_to,
  team_id,
  queued_at,
  policy_id,
}: ConversationRow): AssignmentState {
  return { status, snoozed_until, opens_on_answer, assigned_to, team_id, queued_at, policy_id };
}
