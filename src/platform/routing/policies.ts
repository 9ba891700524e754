/** The policies as decisions see them: those in force in their order, and the one that a conversation falls under. */
import type { Queries } from "../../database/database.ts";
import { matchPolicies } from "./conditions.ts";
import { type Policy, type Thread, toPolicy, withoutPolicy } from "./policy.ts";

/** The active policies in the order in which they are matched: the highest priority first, then the oldest. */
export async function activePolicies(db: Queries, organization: string): Promise<Policy[]> {
  const rows = await inOrder(db, organization).where("is_active", "=", true).execute();
  return rows.map(toPolicy);
}

/** All policies of the organization in the order in which they are matched. */
export function inOrder(db: Queries, organization: string) {
  return db
    .selectFrom("routing_policies")
    .selectAll()
    .where("organization_id", "=", organization)
    .orderBy("priority", "desc")
    .orderBy("id");
}

/** Whether there is a policy at all that may route a conversation. */
export async function hasPolicies(db: Queries, organization: string): Promise<boolean> {
  const found = await db
    .selectFrom("routing_policies")
    .select("id")
    .where("organization_id", "=", organization)
    .where("is_active", "=", true)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** For which conversation, among which active policies. */
interface Asked {
  readonly thread: Thread;
  readonly policies: readonly Policy[];
  readonly now: Date;
}

/**
 * What a team goes by when a conversation is given to it by hand: its first policy that matches, else its
 * first; without one, whoever has the most room.
 */
export async function policyOfTeam(
  db: Queries,
  { thread, team, policies, now }: Asked & { team: { id: string; name: string } },
): Promise<Policy> {
  const own = policies.filter(
    ({ target_type, target_id }) => target_type === "team" && target_id === team.id,
  );
  const [matching] = await matchPolicies(db, { thread, policies: own, now });
  return matching ?? own[0] ?? withoutPolicy(thread.organization_id, team);
}

/** What a waiting conversation waits by: the policy that queued it while it is in force, else the team that it waits for. */
export async function policyOfQueue(db: Queries, asked: Asked): Promise<Policy | undefined> {
  const { thread, policies, now } = asked;
  const stored = policies.find(({ id }) => id === thread.policy_id);
  if (stored) {
    return stored;
  }
  const team = thread.team_id === null ? undefined : await readTeam(db, thread, thread.team_id);
  return team
    ? policyOfTeam(db, { ...asked, team })
    : (await matchPolicies(db, { thread, policies, now }))[0];
}

async function readTeam(db: Queries, { organization_id }: Thread, id: string) {
  return db
    .selectFrom("teams")
    .select(["id", "name"])
    .where("organization_id", "=", organization_id)
    .where("id", "=", id)
    .executeTakeFirst();
}
