/**
 * The teams that a policy can use: its target, then the higher tiers.
 *
 * The longer a conversation waits for a team, the more teams are tried: after each `escalate_after_seconds`
 * the next higher active tier is added. A policy without a target uses every active team at once.
 */
import type { Selectable } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { type AgentCandidate, findUser } from "./candidates.ts";
import type { Policy } from "./policy.ts";

export type Team = Pick<Selectable<Tables["teams"]>, "id" | "name" | "tier" | "is_active">;
type Tier = readonly Team[];

interface Target {
  /** The team in whose queue the conversation waits while no agent is free. */
  readonly team: Team | null;
  readonly tiers: readonly Tier[];
  /** The only agent to consider in the first tier, when the target is a user. */
  readonly onlyUserId?: string;
}

export interface EscalationPath extends Target {
  /** The tiers that are tried later, one more after each step. */
  readonly higherTiers: readonly Tier[];
  readonly stepMs: number;
  /** The target when it is a user in no active team. */
  readonly userWithoutTeam?: AgentCandidate | undefined;
}

export async function readEscalationPath(
  db: Queries,
  policy: Policy,
  teams: readonly Team[],
): Promise<EscalationPath> {
  const target = await readTarget[policy.target_type](db, policy, teams);
  const { team, onlyUserId } = target;
  return {
    ...target,
    higherTiers: team ? groupByTier(teams.filter(({ tier }) => tier > team.tier)) : [],
    stepMs: policy.settings.escalate_after_seconds * 1000,
    userWithoutTeam: onlyUserId !== undefined && !team ? await findUser(db, policy, onlyUserId) : undefined,
  };
}

/**
 * The tiers that are tried after this wait, and the wait after which one more is tried;
 * null if there is none.
 */
export function tiersAfter({ tiers, higherTiers, stepMs }: EscalationPath, waitedMs: number) {
  const steps = Math.floor(waitedMs / stepMs);
  return {
    tiers: [...tiers, ...higherTiers.slice(0, steps)],
    nextTierAfterMs: steps < higherTiers.length ? (steps + 1) * stepMs : null,
  };
}

const readTarget: Record<
  Policy["target_type"],
  (db: Queries, policy: Policy, teams: readonly Team[]) => Promise<Target>
> = {
  async team(_, { target_id }, teams) {
    if (target_id === null) {
      return { team: null, tiers: groupByTier(teams) };
    }
    const team = teams.find(({ id }) => id === target_id) ?? null;
    return { team, tiers: team ? [[team]] : [] };
  },

  async user(db, { organization_id, target_id }, teams) {
    const onlyUserId = target_id ?? "";
    const memberships = await ofOrganization(db, organization_id)
      .selectFrom("team_members")
      .select("team_id")
      .where("user_id", "=", onlyUserId)
      .execute();
    const teamIds = new Set(memberships.map(({ team_id }) => team_id));
    const team = teams.find(({ id, is_active }) => is_active && teamIds.has(id)) ?? null;
    return { team, tiers: team ? [[team]] : [], onlyUserId };
  },
};

/** The active teams, the lowest tier first. */
function groupByTier(teams: readonly Team[]): Team[][] {
  const active = teams.filter(({ is_active }) => is_active);
  const tiers = [...new Set(active.map(({ tier }) => tier))].sort((a, b) => a - b);
  return tiers.map((tier) => active.filter((team) => team.tier === tier));
}

/** All teams of the organization, the lowest tier first. */
export async function readTeams(db: Queries, organization: string): Promise<Team[]> {
  return ofOrganization(db, organization)
    .selectFrom("teams")
    .select(["id", "name", "tier", "is_active"])
    .orderBy("tier")
    .orderBy("id")
    .execute();
}
