/**
 * Finds whom a node of a rehearsal would assign the conversation to: by the rules of an assignment, and by
 * routing with the present agents.
 */
import { fail } from "../../../../../tools/errors.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import {
  type ConversationRow,
  changedState,
  findTeamOf,
  requireActive,
} from "../../../inbox/conversations/index.ts";
import { activePolicies, decide, factsOf, type Policy, policyForTeam } from "../../../inbox/routing/index.ts";
import type { AssignTarget } from "../nodes/index.ts";
import { record, type Stage } from "./stage.ts";

/**
 * @throws Failure `team_not_found`, `user_not_found`, `user_inactive`, `not_a_member`,
 *   `routing_policy_not_found`.
 */
export async function rehearseAssignment(
  stage: Stage,
  { team_id, user_id, policy }: AssignTarget,
): Promise<void> {
  const team = team_id === undefined ? undefined : await findTeam(stage, team_id);
  if (policy !== undefined) {
    await route(stage, await findPolicy(stage, policy));
  } else if (user_id !== undefined) {
    await assignAgent(stage, user_id, team_id);
  } else if (team) {
    await route(stage, await findTeamPolicy(stage, team));
  } else {
    requestRouting(stage);
  }
}

async function assignAgent(stage: Stage, user_id: string, team_id: string | undefined): Promise<void> {
  const { conversation } = stage.scene;
  await requireActive(stage, user_id, "assigned_to");
  const team = team_id ?? (await findTeamOf(stage, conversation, user_id));
  if (team !== null && !(await isMember(stage, team, user_id))) {
    throw fail("not_a_member", { param: "team_id" });
  }
  const changes = { conversation: { ...opened(conversation), assigned_to: user_id, team_id: team } };
  record(stage, `assigns the conversation to ${user_id}`, changes);
}

/** Routing uses the present load of the agents: the simulated clock does not change it. */
async function route(stage: Stage, policy: Policy): Promise<void> {
  const { conversation } = stage.scene;
  const { db, now } = stage;
  const decision = await decide(db, { conversation, policy }, { now, locks: false });
  const { assigned_to, team_id, explanation } = decision;
  record(stage, `assigns the conversation by routing: ${explanation}`, {
    conversation: { ...opened(conversation), assigned_to, team_id },
  });
}

/** A real run enqueues a job here, so the next nodes don't see whom routing chooses. */
function requestRouting(stage: Stage): void {
  const { conversation } = stage.scene;
  record(stage, "requests routing", { conversation: opened(conversation) });
}

/** A hand-off to people opens a pending conversation. */
function opened(conversation: ConversationRow): ConversationRow {
  const isPending = conversation.status === "pending";
  return { ...conversation, ...(isPending && changedState(conversation, { type: "set", status: "open" })) };
}

async function findPolicy({ db, organization }: Stage, id: string): Promise<Policy> {
  const policy = (await activePolicies(db, organization)).find((one) => one.id === id);
  if (!policy) {
    throw fail("routing_policy_not_found", { param: "policy" });
  }
  return policy;
}

async function findTeamPolicy(stage: Stage, team: { id: string; name: string }): Promise<Policy> {
  const { db, world, organization, now } = stage;
  const { contact, conversation, messages } = stage.scene;
  const last = messages.findLast(({ from }) => from === "customer");
  const message = last && { type: last.type ?? "text", text: last.text };
  const facts = new Map([[conversation.id, factsOf(conversation, { contact, message })]]);
  const policies = await activePolicies(db, organization);
  return policyForTeam({ db, world }, { conversation, team, policies, now, facts });
}

async function findTeam({ db, organization }: Stage, id: string) {
  const team = await ofOrganization(db, organization)
    .selectFrom("teams")
    .select(["id", "name"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!team) {
    throw fail("team_not_found", { param: "team_id" });
  }
  return team;
}

async function isMember({ db, organization }: Stage, team_id: string, user_id: string): Promise<boolean> {
  const member = await ofOrganization(db, organization)
    .selectFrom("team_members")
    .select("user_id")
    .where("team_id", "=", team_id)
    .where("user_id", "=", user_id)
    .executeTakeFirst();
  return member !== undefined;
}
