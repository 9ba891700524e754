/** The policies as decisions see them: those in force in their order, and the one that a conversation falls under. */
import type { Queries } from "../../database/database.ts";
import { matchPolicies } from "./conditions.ts";
import { type ConversationRow, defaultPolicy, type Policy, toPolicy } from "./policy.ts";

/** The active policies in the order in which they are matched: the highest priority first, then the oldest. */
export async function activePolicies(db: Queries, organization: string): Promise<Policy[]> {
  const rows = await selectPolicies(db, organization).where("is_active", "=", true).execute();
  return rows.map(toPolicy);
}

/** All policies of the organization in the order in which they are matched. */
export function selectPolicies(db: Queries, organization: string) {
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
interface PolicyLookup {
  readonly conversation: ConversationRow;
  readonly policies: readonly Policy[];
  readonly now: Date;
}

/**
 * What a team goes by when a conversation is given to it by hand: its first policy that matches, else its
 * first; without one, whoever has the most room.
 */
export async function policyForTeam(
  db: Queries,
  { conversation, team, policies, now }: PolicyLookup & { team: { id: string; name: string } },
): Promise<Policy> {
  const own = policies.filter(
    ({ target_type, target_id }) => target_type === "team" && target_id === team.id,
  );
  const [matching] = await matchPolicies(db, { conversation, policies: own, now });
  return matching ?? own[0] ?? defaultPolicy(conversation.organization_id, team);
}

/** What a waiting conversation waits by: the policy that queued it while it is in force, else the team that it waits for. */
export async function policyForQueued(db: Queries, asked: PolicyLookup): Promise<Policy | undefined> {
  const { conversation, policies, now } = asked;
  const stored = policies.find(({ id }) => id === conversation.policy_id);
  if (stored) {
    return stored;
  }
  const team =
    conversation.team_id === null ? undefined : await readTeam(db, conversation, conversation.team_id);
  return team
    ? policyForTeam(db, { ...asked, team })
    : (await matchPolicies(db, { conversation, policies, now }))[0];
}

async function readTeam(db: Queries, { organization_id }: ConversationRow, id: string) {
  return db
    .selectFrom("teams")
    .select(["id", "name"])
    .where("organization_id", "=", organization_id)
    .where("id", "=", id)
    .executeTakeFirst();
}
