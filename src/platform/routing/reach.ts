/**
 * How far a policy reaches: its target, and the teams beyond it tier by tier.
 *
 * A team reaches further up the longer the conversation waits: after each `escalate_after_seconds` the next
 * higher active tier is tried too. A policy without a target reaches every active team at once.
 */
import type { Selectable } from "kysely";
import type { Queries } from "../../database/database.ts";
import type { Tables } from "../../database/schema/index.ts";
import { type Candidate, findUser } from "./candidates.ts";
import type { Policy } from "./policy.ts";

export type Team = Pick<Selectable<Tables["teams"]>, "id" | "name" | "tier" | "is_active">;
type Tier = readonly Team[];

/** Teams by tier, and whom alone of the first one. */
interface Target {
  /** In whose queue the conversation waits if nobody is free. */
  readonly team: Team | null;
  readonly tiers: readonly Tier[];
  readonly only?: string;
}

export interface Reach extends Target {
  /** The tiers that are tried later, one after each step. */
  readonly higher: readonly Tier[];
  readonly stepMs: number;
  /** The user who is the target and is in no active team. */
  readonly alone?: Candidate | undefined;
}

export async function readReach(db: Queries, policy: Policy, teams: readonly Team[]): Promise<Reach> {
  const target = await targets[policy.target_type](db, policy, teams);
  const { team, only } = target;
  return {
    ...target,
    higher: team ? tiersOf(teams.filter(({ tier }) => tier > team.tier)) : [],
    stepMs: policy.settings.escalate_after_seconds * 1000,
    alone: only !== undefined && !team ? await findUser(db, policy, only) : undefined,
  };
}

/** The tiers that are tried after so long a wait, and when there will be one more; null when there is none. */
export function reachAfter({ tiers, higher, stepMs }: Reach, waitedMs: number) {
  const steps = Math.floor(waitedMs / stepMs);
  return {
    tiers: [...tiers, ...higher.slice(0, steps)],
    nextTierAfterMs: steps < higher.length ? (steps + 1) * stepMs : null,
  };
}

const targets: Record<
  Policy["target_type"],
  (db: Queries, policy: Policy, teams: readonly Team[]) => Promise<Target>
> = {
  async team(_, { target_id }, teams) {
    if (target_id === null) {
      return { team: null, tiers: tiersOf(teams) };
    }
    const team = teams.find(({ id }) => id === target_id) ?? null;
    return { team, tiers: team ? [[team]] : [] };
  },

  async user(db, { organization_id, target_id }, teams) {
    const only = target_id ?? "";
    const rows = await db
      .selectFrom("team_members")
      .select("team_id")
      .where("organization_id", "=", organization_id)
      .where("user_id", "=", only)
      .execute();
    const own = new Set(rows.map(({ team_id }) => team_id));
    const team = teams.find(({ id, is_active }) => is_active && own.has(id)) ?? null;
    return { team, tiers: team ? [[team]] : [], only };
  },
};

/** The active teams, the lowest tier first. */
function tiersOf(teams: readonly Team[]): Team[][] {
  const active = teams.filter(({ is_active }) => is_active);
  const tiers = [...new Set(active.map(({ tier }) => tier))].sort((a, b) => a - b);
  return tiers.map((tier) => active.filter((team) => team.tier === tier));
}

/** All teams of the organization, the lowest tier first. */
export async function readTeams(db: Queries, organization: string): Promise<Team[]> {
  return db
    .selectFrom("teams")
    .select(["id", "name", "tier", "is_active"])
    .where("organization_id", "=", organization)
    .orderBy("tier")
    .orderBy("id")
    .execute();
}
