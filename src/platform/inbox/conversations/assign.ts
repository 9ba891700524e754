/** Assigns a conversation to an agent or a team by hand, transfers it, and unassigns it. */
import type { z } from "zod";
import type { conversations as contract } from "../../../../tools/conversations.ts";
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../database/query/index.ts";
import type { OrganizationChange } from "../../foundation/kernel/index.ts";
import { activePolicies, decide, lockMember, policyForTeam, recordAssignment } from "../routing/index.ts";
import { countsAsLoad } from "../teams/index.ts";
import { applyDecisions } from "./apply-decisions.ts";
import { changeConversation } from "./change.ts";
import { type ConversationRow, requireConversation } from "./find/index.ts";

type Assign = z.output<typeof contract.assign_conversation.input>;
type Transfer = z.output<typeof contract.transfer_conversation.input>;
type Unassign = z.output<typeof contract.unassign_conversation.input>;

export async function assign({ id, assigned_to, team_id, reason }: Assign, context: OrganizationChange) {
  // The team is locked before the conversation, as by delete_team, so that the two never deadlock.
  const team = team_id === undefined ? undefined : await lockTeam(context, team_id);
  const conversation = await requireConversation(context.tx, context.organization, id, { locks: true });
  if (assigned_to !== undefined) {
    await requireActive({ ...context, db: context.tx }, assigned_to, "assigned_to");
    return assignAgent(context, conversation, { assigned_to, team_id, reason, assignment_type: "manual" });
  }
  if (!team) {
    // Not reached: the contract requires an agent or a team.
    throw fail("team_not_found", { param: "team_id" });
  }
  return assignTeam(context, conversation, { team, reason });
}

/**
 * @throws Failure `user_not_found`, `user_inactive`, `already_assigned`; `wrong_agent`,
 * naming the current agent.
 */
export async function transfer({ id, from_agent, to_agent, reason }: Transfer, context: OrganizationChange) {
  const conversation = await requireConversation(context.tx, context.organization, id, { locks: true });
  await requireActive({ ...context, db: context.tx }, to_agent, "to_agent");
  if (conversation.assigned_to !== from_agent) {
    throw fail("wrong_agent", { current_agent: conversation.assigned_to, param: "from_agent" });
  }
  if (conversation.assigned_to === to_agent) {
    throw fail("already_assigned", { param: "to_agent" });
  }
  return assignAgent(context, conversation, {
    assigned_to: to_agent,
    team_id: undefined,
    reason,
    assignment_type: "transfer",
  });
}

/** Unassigns the conversation. It stays in its team, but not in the team's queue. */
export async function unassign({ id, reason }: Unassign, context: OrganizationChange) {
  const conversation = await requireConversation(context.tx, context.organization, id, { locks: true });
  const unassigned = await changeConversation(context, conversation, {
    assigned_to: null,
    queued_at: null,
    policy_id: null,
  });
  return recordAssignment(context, unassigned, { assignment_type: "unassign", reason });
}

interface AgentAssignment {
  readonly assigned_to: string;
  /** Chosen among the agent's teams if undefined. */
  readonly team_id: string | undefined;
  readonly reason: string | undefined;
  readonly assignment_type: "manual" | "transfer";
}

/** An assignment by hand may exceed the agent's capacity; the answer then has `over_capacity`. */
async function assignAgent(
  context: OrganizationChange,
  conversation: ConversationRow,
  { assigned_to, team_id: requestedTeam, reason, assignment_type }: AgentAssignment,
) {
  const { tx, organization, now } = context;
  const team_id = requestedTeam ?? (await findTeamOf({ db: tx, organization }, conversation, assigned_to));
  const member =
    team_id === null ? undefined : await lockMember(tx, conversation, { team_id, user_id: assigned_to, now });
  if (team_id !== null && !member) {
    throw fail("not_a_member", { param: "team_id" });
  }
  const assigned = await changeConversation(context, conversation, { assigned_to, team_id, policy_id: null });
  const isFull =
    (member?.current_chat_count ?? 0) >= (member?.max_concurrent_chats ?? Number.POSITIVE_INFINITY);
  return recordAssignment(context, assigned, {
    assignment_type,
    reason,
    over_capacity: countsAsLoad(conversation.status) && isFull,
  });
}

/** The team's policy chooses the agent; if none is free, the conversation waits in the team's queue. */
async function assignTeam(
  context: OrganizationChange,
  conversation: ConversationRow,
  { team, reason }: { team: { id: string; name: string }; reason: string | undefined },
) {
  const { tx, world, now } = context;
  // A conversation that already waits for this team keeps its position.
  const waiting = conversation.team_id === team.id ? conversation : { ...conversation, queued_at: null };
  const policies = await activePolicies(tx, conversation.organization_id);
  const policy = await policyForTeam({ db: tx, world }, { conversation, team, policies, now });
  const decision = await decide(tx, { conversation: waiting, policy }, { now, locks: true });
  const [assigned = waiting] = await applyDecisions(context, [
    { conversation: waiting, trigger: "assign", decision },
  ]);
  return recordAssignment(context, assigned, { assignment_type: "manual", reason });
}

/**
 * A routing policy chooses the agent; if none is free, the conversation waits in the queue.
 * @throws Failure `routing_policy_not_found` if it is not active.
 */
export async function assignByPolicy(context: OrganizationChange, id: string, policy_id: string) {
  const { tx, organization, now } = context;
  const conversation = await requireConversation(tx, organization, id, { locks: true });
  const policy = (await activePolicies(tx, organization)).find((one) => one.id === policy_id);
  if (!policy) {
    throw fail("routing_policy_not_found", { param: "policy" });
  }
  const decision = await decide(tx, { conversation, policy }, { now, locks: true });
  const [assigned = conversation] = await applyDecisions(context, [
    { conversation, trigger: "assign", decision },
  ]);
  return recordAssignment(context, assigned, { assignment_type: "manual", reason: undefined });
}

/** Reads the team and locks it against deletion until the commit. */
async function lockTeam({ tx, organization }: OrganizationChange, id: string) {
  const team = await ofOrganization(tx, organization)
    .selectFrom("teams")
    .select(["id", "name"])
    .where("id", "=", id)
    .forKeyShare()
    .executeTakeFirst();
  if (!team) {
    throw fail("team_not_found", { param: "team_id" });
  }
  return team;
}

interface Reading {
  readonly db: Queries;
  readonly organization: string;
}

/** @throws Failure `user_not_found`, `user_inactive`, naming `field`. */
export async function requireActive({ db, organization }: Reading, id: string, field: string): Promise<void> {
  const user = await ofOrganization(db, organization)
    .selectFrom("users")
    .select("is_active")
    .where("id", "=", id)
    .executeTakeFirst();
  if (!user) {
    throw fail("user_not_found", { param: field });
  }
  if (!user.is_active) {
    throw fail("user_inactive", { param: field });
  }
}

/**
 * The conversation's team if the agent is in it, else the agent's active team of the lowest tier, else null.
 */
export async function findTeamOf(
  { db, organization }: Reading,
  conversation: ConversationRow,
  user_id: string,
): Promise<string | null> {
  const teams = await ofOrganization(db, organization)
    .selectFrom("team_members")
    .innerJoin("teams", (join) => join.on(refersTo("team_members.team_id", "teams")))
    .select(["teams.id", "teams.is_active"])
    .where("team_members.user_id", "=", user_id)
    .orderBy("teams.tier")
    .orderBy("teams.id")
    .execute();
  const current = teams.find(({ id }) => id === conversation.team_id);
  return (current ?? teams.find(({ is_active }) => is_active))?.id ?? null;
}
