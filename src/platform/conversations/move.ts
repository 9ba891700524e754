/**
 * The only place where a thread changes its status, its agent or its team.
 *
 * So the members' counts are right: a thread that is open or pending counts for its agent in its team. The
 * thread is locked first, then the members, and whoever waits is told when one of them has become free.
 */
import type { Selectable } from "kysely";
import type { Tables } from "../../database/schema.ts";
import { announceCapacity, isBusy, type Work } from "../core/capacity.ts";

export type Thread = Selectable<Tables["conversations"]>;

export type Place = Pick<
  Thread,
  "status" | "snoozed_until" | "assigned_to" | "team_id" | "queued_at" | "policy_id"
>;

/** The thread must be locked. */
export async function move(work: Work, thread: Thread, change: Partial<Place>): Promise<Thread> {
  const { tx, now } = work;
  const place = settle({ ...placeOf(thread), ...change });
  const moved = await tx
    .updateTable("conversations")
    // Whoever closes it sees no need to answer.
    .set({ ...place, ...(isDone(place) ? { waiting_since: null } : {}), updated_at: now.toISOString() })
    .where("organization_id", "=", thread.organization_id)
    .where("id", "=", thread.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const [before, after] = [seatOf(thread), seatOf(moved)];
  if (before?.key !== after?.key) {
    const changes = [
      { seat: before, by: -1 },
      { seat: after, by: 1 },
    ];
    // In the order in which a choice locks them.
    for (const { seat, by } of changes.sort((a, b) => ((a.seat?.key ?? "") < (b.seat?.key ?? "") ? -1 : 1))) {
      await count(work, seat, by);
    }
    if (before) {
      await announceCapacity(work, thread.organization_id);
    }
  }
  return moved;
}

/** Nobody waits for an agent who has one, or who is not to be answered. */
function settle(place: Place): Place {
  const waits = place.assigned_to === null && isBusy(place.status);
  return waits ? place : { ...place, queued_at: null };
}

function isDone({ status }: Place): boolean {
  return status === "closed" || status === "spam";
}

interface Seat {
  readonly key: string;
  readonly organization_id: string;
  readonly team_id: string;
  readonly user_id: string;
}

/** For whom the thread counts. */
function seatOf({ organization_id, status, team_id, assigned_to: user_id }: Thread): Seat | undefined {
  return isBusy(status) && team_id !== null && user_id !== null
    ? { key: `${user_id} ${team_id}`, organization_id, team_id, user_id }
    : undefined;
}

async function count({ tx }: Work, seat: Seat | undefined, by: number): Promise<void> {
  if (!seat) {
    return;
  }
  // Who has left the team keeps their threads, and has no row to count them in.
  await tx
    .updateTable("team_members")
    .set((row) => ({ current_chat_count: row("current_chat_count", "+", by) }))
    .where("organization_id", "=", seat.organization_id)
    .where("team_id", "=", seat.team_id)
    .where("user_id", "=", seat.user_id)
    .execute();
}

function placeOf({ status, snoozed_until, assigned_to, team_id, queued_at, policy_id }: Thread): Place {
  return { status, snoozed_until, assigned_to, team_id, queued_at, policy_id };
}
