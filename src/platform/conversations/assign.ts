/** Gives a conversation to an agent or a team by hand, hands it over, and takes it off. */
import type { z } from "zod";
import type { conversations as contract } from "../../../tools/conversations.ts";
import { fail } from "../../../tools/errors.ts";
import { refersTo } from "../../database/query/index.ts";
import { isBusy, type WriteContext } from "../kernel/index.ts";
import { activePolicies, decide, lockSeat, policyOfTeam } from "../routing/index.ts";
import { recordAssignment } from "./assignments.ts";
import { move, type Thread } from "./move.ts";
import { carryOut } from "./route.ts";
import { requireThread } from "./thread.ts";

type Assign = z.output<typeof contract.assign_conversation.input>;
type Transfer = z.output<typeof contract.transfer_conversation.input>;
type Unassign = z.output<typeof contract.unassign_conversation.input>;

export async function assign({ id, assigned_to, team_id, reason }: Assign, context: WriteContext) {
  // Before the thread, in the order of whoever deletes the team: neither waits for the other.
  const team = team_id === undefined ? undefined : await holdTeam(context, team_id);
  const thread = await requireThread(context.tx, context.organization, id, { locks: true });
  if (assigned_to === undefined) {
    // The contract asks for one of the two.
    return assignTeam(context, thread, { team: team ?? (await holdTeam(context, "")), reason });
  }
  return assignAgent(context, thread, { assigned_to, team_id, reason, assignment_type: "manual" });
}

/** @throws Failure `wrong_agent`, with the agent who has it. */
export async function transfer({ id, from_agent, to_agent, reason }: Transfer, context: WriteContext) {
  const thread = await requireThread(context.tx, context.organization, id, { locks: true });
  if (thread.assigned_to !== from_agent) {
    throw fail("wrong_agent", { current_agent: thread.assigned_to, param: "from_agent" });
  }
  const given = { assigned_to: to_agent, team_id: undefined, reason, assignment_type: "transfer" as const };
  return assignAgent(context, thread, given);
}

/** It stays in its team, and waits for nobody. */
export async function unassign({ id, reason }: Unassign, context: WriteContext) {
  const thread = await requireThread(context.tx, context.organization, id, { locks: true });
  const moved = await move(context, thread, { assigned_to: null, queued_at: null, policy_id: null });
  const assigned_by = context.caller.acts_for;
  return recordAssignment(context, moved, { assignment_type: "unassign", assigned_by, reason });
}

interface Given {
  readonly assigned_to: string;
  /** The agent's own, chosen here, when left out. */
  readonly team_id: string | undefined;
  readonly reason: string | undefined;
  readonly assignment_type: "manual" | "transfer";
}

/** A person may give an agent more than they should have, and is told so. */
async function assignAgent(context: WriteContext, thread: Thread, given: Given) {
  const { tx } = context;
  const { assigned_to, reason, assignment_type } = given;
  await requireActive(context, assigned_to);
  const team_id = given.team_id ?? (await teamOf(context, thread, assigned_to));
  const seat = team_id === null ? undefined : await lockSeat(tx, thread, { team_id, user_id: assigned_to });
  if (team_id !== null && !seat) {
    throw fail("not_a_member", { param: "team_id" });
  }
  const moved = await move(context, thread, { assigned_to, team_id, policy_id: null });
  const isFull = (seat?.current_chat_count ?? 0) >= (seat?.max_concurrent_chats ?? Number.POSITIVE_INFINITY);
  return recordAssignment(context, moved, {
    assignment_type,
    assigned_by: context.caller.acts_for,
    reason,
    over_capacity: isBusy(thread.status) && isFull,
  });
}

/** The team chooses by its policy; if nobody there is free, the conversation waits in its queue. */
async function assignTeam(
  context: WriteContext,
  thread: Thread,
  { team, reason }: { team: { id: string; name: string }; reason: string | undefined },
) {
  const { tx, now } = context;
  // What waits for this team already keeps its place.
  const waiting = thread.team_id === team.id ? thread : { ...thread, queued_at: null };
  const policies = await activePolicies(tx, thread.organization_id);
  const policy = await policyOfTeam(tx, { thread, team, policies, now });
  const decision = await decide(tx, { thread: waiting, policy }, { now, locks: true });
  const [moved = waiting] = await carryOut(context, [{ thread: waiting, trigger: "assign", decision }]);
  const assigned_by = context.caller.acts_for;
  return recordAssignment(context, moved, { assignment_type: "manual", assigned_by, reason });
}

/** The team, which is not deleted before the commit. */
async function holdTeam({ tx, organization }: WriteContext, id: string) {
  const team = await tx
    .selectFrom("teams")
    .select(["id", "name"])
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .forKeyShare()
    .executeTakeFirst();
  if (!team) {
    throw fail("team_not_found", { param: "team_id" });
  }
  return team;
}

async function requireActive({ tx, organization }: WriteContext, id: string): Promise<void> {
  const user = await tx
    .selectFrom("users")
    .select("is_active")
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!user) {
    throw fail("user_not_found");
  }
  if (!user.is_active) {
    throw fail("user_inactive");
  }
}

/** The conversation's team if the agent is in it, else their active team of the lowest tier, else none. */
async function teamOf(
  { tx, organization }: WriteContext,
  thread: Thread,
  user_id: string,
): Promise<string | null> {
  const teams = await tx
    .selectFrom("team_members")
    .innerJoin("teams", (join) => join.on(refersTo("team_members.team_id", "teams")))
    .select(["teams.id", "teams.is_active"])
    .where("team_members.organization_id", "=", organization)
    .where("team_members.user_id", "=", user_id)
    .orderBy("teams.tier")
    .orderBy("teams.id")
    .execute();
  const present = teams.find(({ id }) => id === thread.team_id);
  return (present ?? teams.find(({ is_active }) => is_active))?.id ?? null;
}
