/**
 * What the choices for some conversations are made from: who is there with which load, whose turn it is,
 * who is owed what, who served whom last.
 *
 * It is read once, with the members locked, and each choice is noted on it: so many conversations are given
 * out one after the other under one lock, and each choice knows of those before it.
 */
import { sql } from "kysely";
import type { Queries } from "../../database/database.ts";
import { type Candidate, type Member, readMembers, toCandidate } from "./candidates.ts";
import type { Policy, Thread } from "./policy.ts";
import { type Reach, reachAfter, readReach, readTeams, type Team } from "./reach.ts";

/** A conversation, and the policy by which it is to find somebody. */
export interface Wish {
  readonly thread: Thread;
  readonly policy: Policy;
}

export interface Board {
  readonly now: Date;
  readonly reaches: ReadonlyMap<Policy, Reach>;
  /** By user and team, in the order in which they are listed. */
  readonly members: Map<string, Member>;
  /** What each agent is owed in the weighted round of a policy. */
  readonly credits: Map<string | null, ReadonlyMap<string, number>>;
  /** By contact. */
  readonly lastServed: Map<string, Served>;
}

interface Served {
  readonly user_id: string;
  readonly at: string;
}

/** With `locks`, held until the commit: so the choices are still right when they are written. */
export async function openBoard(
  db: Queries,
  wishes: readonly Wish[],
  { organization, now, locks }: { organization: string; now: Date; locks: boolean },
): Promise<Board> {
  const teams = await readTeams(db, organization);
  const policies = [...new Set(wishes.map(({ policy }) => policy))];
  const reaches = new Map<Policy, Reach>();
  for (const policy of policies) {
    reaches.set(policy, await readReach(db, policy, teams));
  }
  const reached = wishes.flatMap((wish) => teamsFor(reaches, wish, now));
  const team_ids = [...new Set(reached.map(({ id }) => id))];
  const threads = wishes.map(({ thread }) => thread);
  const members = await readMembers(db, { organization, team_ids, threads, locks });
  // Behind the lock: whoever held it before may have changed them.
  const weighted = policies.filter((policy) => asks(policy, "weighted"));
  const sticky = wishes.filter(({ policy }) => asks(policy, "sticky"));
  return {
    now,
    reaches,
    members: new Map(members.map((member) => [seatKey(member), member])),
    credits: await readCredits(db, organization, weighted),
    lastServed: await readLastServed(db, organization, sticky),
  };
}

/** Notes to whom a conversation that nobody had goes, if to anybody: the next choice knows of it. */
export function seat(board: Board, { thread, policy }: Wish, decided: Seating): void {
  const { team_id, assigned_to: user_id, turn, credits } = decided;
  if (user_id === null) {
    return;
  }
  const key = seatKey({ user_id, team_id });
  const member = board.members.get(key);
  if (member) {
    board.members.set(key, { ...member, current_chat_count: member.current_chat_count + 1, turn });
  }
  if (credits.size > 0) {
    board.credits.set(policy.id, new Map([...(board.credits.get(policy.id) ?? []), ...credits]));
  }
  board.lastServed.set(thread.contact_id, { user_id, at: board.now.toISOString() });
}

interface Seating {
  readonly team_id: string | null;
  readonly assigned_to: string | null;
  readonly turn: number;
  readonly credits: ReadonlyMap<string, number>;
}

export interface Candidates {
  /** In whose queue the conversation waits if nobody is free. */
  readonly team: Team | null;
  readonly tiers: readonly (readonly Candidate[])[];
  /** How long it must wait until the next tier is tried; null when there is none. */
  readonly nextTierAfterMs: number | null;
}

/** Those whom the policy reaches by now, tier by tier. */
export function candidatesFor({ reaches, members, now }: Board, { thread, policy }: Wish): Candidates {
  const reach = reaches.get(policy);
  if (!reach) {
    throw new Error(`The board was not opened for the policy ${policy.id}.`);
  }
  const { tiers, nextTierAfterMs } = reachAfter(reach, waitedMs(thread, now));
  const all = [...members.values()].map((member) => toCandidate(member, thread));
  const found = tiers.map((tier, index) =>
    all.filter(
      ({ team_id, user_id }) =>
        tier.some(({ id }) => id === team_id) &&
        (index > 0 || reach.only === undefined || reach.only === user_id),
    ),
  );
  return { team: reach.team, tiers: reach.alone ? [[reach.alone], ...found] : found, nextTierAfterMs };
}

/** Whether the policy goes by this strategy, at first or when its first one finds nobody. */
export function asks({ strategy, settings }: Policy, wanted: Policy["strategy"]): boolean {
  return strategy === wanted || (strategy === "sticky" && settings.fallback === wanted);
}

export function waitedMs({ queued_at }: Thread, now: Date): number {
  return queued_at === null ? 0 : now.getTime() - Date.parse(queued_at);
}

function teamsFor(reaches: ReadonlyMap<Policy, Reach>, { thread, policy }: Wish, now: Date): readonly Team[] {
  const reach = reaches.get(policy);
  return reach ? reachAfter(reach, waitedMs(thread, now)).tiers.flat() : [];
}

function seatKey({ user_id, team_id }: { user_id: string; team_id: string | null }): string {
  return `${user_id} ${team_id}`;
}

async function readCredits(db: Queries, organization: string, policies: readonly Policy[]) {
  const credits = new Map<string | null, Map<string, number>>(policies.map(({ id }) => [id, new Map()]));
  if (policies.length > 0) {
    const rows = await db
      .selectFrom("routing_credits")
      .select(["policy_id", "user_id", "credit"])
      .where("organization_id", "=", organization)
      .where((row) => row("policy_id", "=", row.fn.any(row.val(policies.map(({ id }) => id)))))
      .execute();
    for (const { policy_id, user_id, credit } of rows) {
      credits.get(policy_id)?.set(user_id, credit);
    }
  }
  return credits;
}

/** Who was given each of these contacts last, in any of its conversations. */
async function readLastServed(db: Queries, organization: string, wishes: readonly Wish[]) {
  if (wishes.length === 0) {
    return new Map<string, Served>();
  }
  const { rows } = await sql<Served & { contact_id: string }>`
    select last.contact_id, last.assigned_to as user_id, last.created_at as at
    from unnest(${wishes.map(({ thread }) => thread.contact_id)}::text[]) as contact (id)
    cross join lateral (
      select contact_id, assigned_to, created_at from assignments
      where organization_id = ${organization} and contact_id = contact.id and assigned_to is not null
      order by id desc limit 1
    ) as last
  `.execute(db);
  return new Map(rows.map(({ contact_id, user_id, at }) => [contact_id, { user_id, at }]));
}
