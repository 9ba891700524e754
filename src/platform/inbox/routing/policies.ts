/** Finds policies: the active ones in matching order, and the one that applies to a conversation. */
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { type ConversationFacts, matchPolicies, readFacts } from "./conditions.ts";
import { defaultPolicy, type Policy, type RoutedConversation, toPolicy } from "./policy.ts";
import { selectDecisions, type Trigger } from "./records.ts";

/**
 * The active policies in the order in which they are matched: the highest priority first, then the oldest.
 */
export async function activePolicies(db: Queries, organization: string): Promise<Policy[]> {
  const rows = await selectPolicies(db, organization).where("is_active", "=", true).execute();
  return rows.map(toPolicy);
}

/** All policies of the organization in the order in which they are matched. */
export function selectPolicies(db: Queries, organization: string) {
  return ofOrganization(db, organization)
    .selectFrom("routing_policies")
    .selectAll()
    .orderBy("priority", "desc")
    .orderBy("id");
}

/** @throws Failure `routing_policy_not_found`. */
export async function getPolicy(db: Queries, organization: string, id: string, { locks = false } = {}) {
  const policy = await selectPolicies(db, organization)
    .where("id", "=", id)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
  if (!policy) {
    throw fail("routing_policy_not_found");
  }
  return policy;
}

/** Whether the organization has an active policy. */
export async function hasPolicies(db: Queries, organization: string): Promise<boolean> {
  const policy = await ofOrganization(db, organization)
    .selectFrom("routing_policies")
    .select("id")
    .where("is_active", "=", true)
    .limit(1)
    .executeTakeFirst();
  return policy !== undefined;
}

interface LookupContext {
  readonly db: Queries;
  readonly world: Pick<World, "hooks">;
}

/** A conversation, and the active policies to look in. */
interface PolicyLookup {
  readonly conversation: RoutedConversation;
  readonly policies: readonly Policy[];
  readonly now: Date;
  /** The facts of several conversations, if they are known; by default the facts are read. */
  readonly facts?: ConversationFacts;
}

/**
 * The policy for a conversation that is assigned to a team by hand: the team's first policy that matches,
 * else its first, else the default policy.
 */
export async function policyForTeam(
  context: LookupContext,
  lookup: PolicyLookup & { readonly team: { id: string; name: string } },
): Promise<Policy> {
  const { conversation, team, policies, now } = lookup;
  const own = policies.filter(
    ({ target_type, target_id }) => target_type === "team" && target_id === team.id,
  );
  const facts = lookup.facts ?? (await readFacts(context, [conversation], own));
  const [matching] = matchPolicies(facts, { conversation, policies: own, now });
  return matching ?? own[0] ?? defaultPolicy(conversation.organization_id, team);
}

/** The policy of the team that the conversation is in; undefined if it is in none. */
export async function policyForOwnTeam(
  context: LookupContext,
  lookup: PolicyLookup,
): Promise<Policy | undefined> {
  const { organization_id, team_id } = lookup.conversation;
  if (team_id === null) {
    return undefined;
  }
  const team = await ofOrganization(context.db, organization_id)
    .selectFrom("teams")
    .select(["id", "name"])
    .where("id", "=", team_id)
    .executeTakeFirst();
  return team && policyForTeam(context, { ...lookup, team });
}

/**
 * The policy for a queued conversation: as for a new conversation, the first policy that matches now; if the
 * conversation has a team, only the policies of the team count. Without a match, the policy that queued the
 * conversation while that policy is active, else the policy of the team. A team that was chosen by hand or by
 * a flow stays.
 */
export async function policyForQueued(
  context: LookupContext,
  lookup: PolicyLookup,
): Promise<Policy | undefined> {
  const { conversation, policies } = lookup;
  const facts = lookup.facts ?? (await readFacts(context, [conversation], policies));
  const own = policies.find(({ id }) => id === conversation.policy_id);
  const { team_id } = conversation;
  const usable = policies.filter(
    (policy) =>
      policy === own || team_id === null || (policy.target_type === "team" && policy.target_id === team_id),
  );
  const [matching] = matchPolicies(facts, { ...lookup, policies: usable });
  if (matching && (own === undefined || matching === own || !(await wasChosen(context.db, conversation)))) {
    return matching;
  }
  return own ?? policyForOwnTeam(context, { ...lookup, facts });
}

/** These decide again about a conversation that has a policy or a team, and do not choose one. */
const repetitions: readonly Trigger[] = ["escalation", "capacity", "requeue"];

/** Whether a person or a flow, not routing, has given the conversation to its policy or team. */
async function wasChosen(db: Queries, { organization_id, id }: RoutedConversation): Promise<boolean> {
  const choice = await selectDecisions(db, organization_id, id)
    .where("trigger", "not in", repetitions)
    .limit(1)
    .executeTakeFirst();
  return choice?.trigger === "assign";
}
