/**
 * The only place where a thread changes its status, its agent or its team.
 *
 * So the members' counts are right: a thread that is open or pending counts for its agent in its team. The
 * thread is locked first, then the members, and whoever waits is told when one of them has become free.
 */
import { type Selectable, sql } from "kysely";
import type { Tables } from "../../database/schema/index.ts";
import { announceCapacity, type Change, isBusy } from "../kernel/index.ts";

export type Thread = Selectable<Tables["conversations"]>;

export type Place = Pick<
  Thread,
  "status" | "snoozed_until" | "assigned_to" | "team_id" | "queued_at" | "policy_id"
>;

export interface Move {
  readonly thread: Thread;
  readonly change: Partial<Place>;
  /** The place in the round that the new agent takes by it, if they were chosen. */
  readonly turn?: number;
}

/** The thread must be locked. */
export async function move(work: Change, thread: Thread, change: Partial<Place>): Promise<Thread> {
  const [moved] = await moveAll(work, [{ thread, change }]);
  return moved as Thread; // one for each
}

/**
 * Several threads of one organization, and the members' counts with them. The threads must be locked, and so
 * must the members, unless only one of them is concerned: they are counted in no order.
 */
export async function moveAll(work: Change, moves: readonly Move[]): Promise<Thread[]> {
  const placed = moves.map(({ thread, change, turn }) => {
    const place = settle({ ...placeOf(thread), ...change });
    return { thread, place, changes: seatChanges(thread, { ...thread, ...place }, turn) };
  });
  const changes = placed.flatMap((one) => one.changes);
  const moved = await write(work, placed, changes);
  const [left] = changes.filter(({ by }) => by < 0);
  if (left) {
    await announceCapacity(work, left.organization_id);
  }
  return moved;
}

interface Placed {
  readonly thread: Thread;
  readonly place: Place;
}

/**
 * In one statement: the members are locked until the commit, and others wait for them. The ids are given
 * twice: for a join alone, the planner may read the whole table first.
 */
async function write(
  { tx, now }: Change,
  placed: readonly Placed[],
  changes: readonly SeatChange[],
): Promise<Thread[]> {
  const rows = placed.map(({ thread: { organization_id, id }, place }) => {
    return { organization_id, id, ...place, is_done: isDone(place) };
  });
  const moved = await sql<Thread>`
    with counted as (${counting(changes)})
    update conversations set status = place.status, snoozed_until = place.snoozed_until,
      assigned_to = place.assigned_to, team_id = place.team_id, queued_at = place.queued_at,
      policy_id = place.policy_id, updated_at = ${now.toISOString()}::timestamptz,
      -- Whoever closes it sees no need to answer.
      waiting_since = case when place.is_done then null else waiting_since end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as place (organization_id text, id text,
      status text, snoozed_until timestamptz, assigned_to text, team_id text, queued_at timestamptz,
      policy_id text, is_done boolean)
    where conversations.organization_id = any(${rows.map(({ organization_id }) => organization_id)}::text[])
      and conversations.id = any(${rows.map(({ id }) => id)}::text[])
      and conversations.organization_id = place.organization_id and conversations.id = place.id
    returning conversations.*
  `.execute(tx);
  const byId = new Map(moved.rows.map((thread) => [thread.id, thread]));
  return placed.map(({ thread }) => {
    const found = byId.get(thread.id);
    if (!found) {
      throw new Error(`The conversation ${thread.id} was moved without being held.`);
    }
    return found;
  });
}

/** Who has left the team keeps their threads, and has no row to count them in. */
const counting = (changes: readonly SeatChange[]) => sql`
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
function settle(place: Place): Place {
  const waits = place.assigned_to === null && isBusy(place.status);
  return waits ? place : { ...place, queued_at: null };
}

function isDone({ status }: Place): boolean {
  return status === "closed" || status === "spam";
}

interface Seat {
  readonly organization_id: string;
  readonly team_id: string;
  readonly user_id: string;
  /** As how many the thread counts here. */
  readonly by: number;
}

interface SeatChange extends Seat {
  readonly turn?: number | undefined;
}

/** For whom the thread counts no longer and for whom from now on; nothing if that stays. */
function seatChanges(before: Thread, after: Thread, turn: number | undefined): SeatChange[] {
  const [from, to] = [seatOf(before), seatOf(after)];
  const isSame = from?.team_id === to?.team_id && from?.user_id === to?.user_id && from?.by === to?.by;
  const left = from && !isSame ? [{ ...from, by: -from.by }] : [];
  const taken = to ? [{ ...to, by: isSame ? 0 : to.by, turn }] : [];
  return [...left, ...taken].filter((change: SeatChange) => change.by !== 0 || change.turn !== undefined);
}

/** Who has the thread in which team. */
function seatOf({ organization_id, status, team_id, assigned_to: user_id }: Thread): Seat | undefined {
  return team_id !== null && user_id !== null
    ? { organization_id, team_id, user_id, by: Number(isBusy(status)) }
    : undefined;
}

function placeOf({ status, snoozed_until, assigned_to, team_id, queued_at, policy_id }: Thread): Place {
  return { status, snoozed_until, assigned_to, team_id, queued_at, policy_id };
}
