/**
 * The only place where a conversation changes its status, its agent or its team.
 *
 * So the members' counts are right: a conversation that is open or pending counts for its agent in its team. The
 * conversation is locked first, then the members, and whoever waits is told when one of them has become free.
 */
import { type Selectable, sql } from "kysely";
import type { Tables } from "../../database/schema/index.ts";
import { type Change, countsAsLoad, enqueueServeQueue } from "../kernel/index.ts";

export type Thread = Selectable<Tables["conversations"]>;

export type AssignmentState = Pick<
  Thread,
  "status" | "snoozed_until" | "assigned_to" | "team_id" | "queued_at" | "policy_id"
>;

export interface ConversationChange {
  readonly conversation: Thread;
  readonly change: Partial<AssignmentState>;
  /** The position in the round that the new agent takes by it, if they were chosen. */
  readonly turn?: number;
}

/** The conversation must be locked. */
export async function changeConversation(
  work: Change,
  conversation: Thread,
  change: Partial<AssignmentState>,
): Promise<Thread> {
  const [moved] = await changeConversations(work, [{ conversation, change }]);
  return moved as Thread; // one for each
}

/**
 * Several conversations of one organization, and the members' counts with them. The conversations must be locked, and so
 * must the members, unless only one of them is concerned: they are counted in no order.
 */
export async function changeConversations(
  work: Change,
  moves: readonly ConversationChange[],
): Promise<Thread[]> {
  const placed = moves.map(({ conversation, change, turn }) => {
    const state = leaveQueueIfAssigned({ ...assignmentStateOf(conversation), ...change });
    return { conversation, state, changes: loadChangesOf(conversation, { ...conversation, ...state }, turn) };
  });
  const changes = placed.flatMap((one) => one.changes);
  const moved = await writeChanges(work, placed, changes);
  const [left] = changes.filter(({ by }) => by < 0);
  if (left) {
    await enqueueServeQueue(work, left.organization_id);
  }
  return moved;
}

interface PlannedChange {
  readonly conversation: Thread;
  readonly state: AssignmentState;
}

/**
 * In one statement: the members are locked until the commit, and others wait for them. The ids are given
 * twice: for a join alone, the planner may read the whole table first.
 */
async function writeChanges(
  { tx, now }: Change,
  placed: readonly PlannedChange[],
  changes: readonly LoadChange[],
): Promise<Thread[]> {
  const rows = placed.map(({ conversation: { organization_id, id }, state }) => {
    return { organization_id, id, ...state, is_done: isDone(state) };
  });
  const moved = await sql<Thread>`
    with counted as (${updateLoadSql(changes)})
    update conversations set status = state.status, snoozed_until = state.snoozed_until,
      assigned_to = state.assigned_to, team_id = state.team_id, queued_at = state.queued_at,
      policy_id = state.policy_id, updated_at = ${now.toISOString()}::timestamptz,
      -- Whoever closes it sees no need to answer.
      waiting_since = case when state.is_done then null else waiting_since end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as state (organization_id text, id text,
      status text, snoozed_until timestamptz, assigned_to text, team_id text, queued_at timestamptz,
      policy_id text, is_done boolean)
    where conversations.organization_id = any(${rows.map(({ organization_id }) => organization_id)}::text[])
      and conversations.id = any(${rows.map(({ id }) => id)}::text[])
      and conversations.organization_id = state.organization_id and conversations.id = state.id
    returning conversations.*
  `.execute(tx);
  const byId = new Map(moved.rows.map((conversation) => [conversation.id, conversation]));
  return placed.map(({ conversation }) => {
    const found = byId.get(conversation.id);
    if (!found) {
      throw new Error(`The conversation ${conversation.id} was moved without being held.`);
    }
    return found;
  });
}

/** Who has left the team keeps their conversations, and has no row to count them in. */
const updateLoadSql = (changes: readonly LoadChange[]) => sql`
  update team_members
  set current_chat_count = current_chat_count + change.by, turn = coalesce(change.turn, team_members.turn)
  from (
    select organization_id, team_id, user_id, sum(by)::integer as by, max(turn) as turn
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
      as change (organization_id text, team_id text, user_id text, by integer, turn bigint)
    group by organization_id, team_id, user_id
  ) as change
  where team_members.organization_id = change.organization_id
    and team_members.team_id = change.team_id and team_members.user_id = change.user_id`;

/** Nobody waits for an agent who has one, or who is not to be answered. */
function leaveQueueIfAssigned(state: AssignmentState): AssignmentState {
  const waits = state.assigned_to === null && countsAsLoad(state.status);
  return waits ? state : { ...state, queued_at: null };
}

function isDone({ status }: AssignmentState): boolean {
  return status === "closed" || status === "spam";
}

interface MemberLoad {
  readonly organization_id: string;
  readonly team_id: string;
  readonly user_id: string;
  /** As how many the conversation counts here. */
  readonly by: number;
}

interface LoadChange extends MemberLoad {
  readonly turn?: number | undefined;
}

/** For whom the conversation counts no longer and for whom from now on; nothing if that stays. */
function loadChangesOf(before: Thread, after: Thread, turn: number | undefined): LoadChange[] {
  const [from, to] = [memberLoadOf(before), memberLoadOf(after)];
  const isSame = from?.team_id === to?.team_id && from?.user_id === to?.user_id && from?.by === to?.by;
  const left = from && !isSame ? [{ ...from, by: -from.by }] : [];
  const taken = to ? [{ ...to, by: isSame ? 0 : to.by, turn }] : [];
  return [...left, ...taken].filter((change: LoadChange) => change.by !== 0 || change.turn !== undefined);
}

/** Who has the conversation in which team. */
function memberLoadOf({
  organization_id,
  status,
  team_id,
  assigned_to: user_id,
}: Thread): MemberLoad | undefined {
  return team_id !== null && user_id !== null
    ? { organization_id, team_id, user_id, by: Number(countsAsLoad(status)) }
    : undefined;
}

function assignmentStateOf({
  status,
  snoozed_until,
  assigned_to,
  team_id,
  queued_at,
  policy_id,
}: Thread): AssignmentState {
  return { status, snoozed_until, assigned_to, team_id, queued_at, policy_id };
}
