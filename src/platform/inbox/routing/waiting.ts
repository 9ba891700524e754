/** Says why a conversation has no agent. */
import type { Queries } from "../../../database/database.ts";
import { hasPolicies } from "./policies.ts";
import type { RoutedConversation } from "./policy.ts";
import { selectDecisions } from "./records.ts";

/**
 * In a sentence; null if the conversation has an agent, needs none, or routing has not looked for one yet.
 */
export async function whyUnassigned(
  db: Queries,
  conversation: Pick<
    RoutedConversation,
    "organization_id" | "id" | "status" | "assigned_to" | "team_id" | "queued_at"
  >,
): Promise<string | null> {
  const { organization_id, id, status, assigned_to, team_id, queued_at } = conversation;
  if (status !== "open" || assigned_to !== null) {
    return null;
  }
  const latest = await selectDecisions(db, organization_id, id).limit(1).executeTakeFirst();
  const hasLeftQueue = latest?.outcome === "queued" && queued_at === null;
  if (latest && !hasLeftQueue) {
    return latest.outcome === "assigned" ? null : latest.explanation;
  }
  if (team_id === null && !(await hasPolicies(db, organization_id))) {
    return "No routing policy is active, and the conversation is in no team: no agent is looked for.";
  }
  return hasLeftQueue
    ? "It was taken out of the queue: an agent is looked for when the contact writes again."
    : null;
}
