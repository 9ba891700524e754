/**
 * Changes a conversation's status, by hand or by an event; a reopened one keeps its agent
 * only if they are free.
 */

import { z } from "zod";
import { fail, failField } from "../../../../tools/errors.ts";
import { newJob } from "../../../jobs/job.ts";
import { type Change, defineJob, type OrganizationChange } from "../../foundation/kernel/index.ts";
import { findUser, lockMember, reasonTexts, recordAssignment, recordDecision } from "../routing/index.ts";
import { countsAsLoad } from "../teams/index.ts";
import { changeConversation } from "./change.ts";
import { type ConversationRow, requireConversation, withConversation } from "./find/index.ts";
import { requestRouting } from "./route.ts";
import { allowedStatuses, type ConversationEvent, type ConversationState, transition } from "./states.ts";

/** Reopens a snoozed conversation at its time. */
export const wakeJob = defineJob({
  name: "conversation.wake",
  payload: z.object({ organization_id: z.string(), conversation_id: z.string(), until: z.string() }),

  async run({ until, ...payload }, world) {
    await withConversation(world, payload, async (change, conversation) => {
      await applyEvent(change, conversation, { type: "wake", until });
    });
    return undefined;
  },
});

/**
 * Sets the status by hand.
 * @throws Failure `status_not_allowed` or `snooze_not_in_future`.
 */
export async function setStatus(
  change: Change,
  conversation: ConversationRow,
  { status, snoozed_until }: Extract<ConversationEvent, { type: "set" }>,
): Promise<ConversationRow> {
  requireSettable(conversation, { status, snoozed_until }, change.now);
  const until = snoozed_until === undefined ? undefined : new Date(snoozed_until);
  const event = { type: "set", status, snoozed_until: until?.toISOString() } as const;
  const updated = await applyEvent(change, conversation, event);
  if (until && updated.snoozed_until !== null) {
    const { organization_id, id: conversation_id } = conversation;
    const payload = { organization_id, conversation_id, until: updated.snoozed_until };
    await change.tx.enqueue([newJob(wakeJob, payload, { runAt: until })]);
  }
  return updated;
}

/** Opens a conversation, if it is pending, that a flow or the bot has handed to people. */
export async function openIfPending(change: OrganizationChange, id: string): Promise<void> {
  const conversation = await requireConversation(change.tx, change.organization, id, { locks: true });
  if (conversation.status === "pending") {
    await applyEvent(change, conversation, { type: "set", status: "open" });
  }
}

/** @throws Failure `status_not_allowed` or `snooze_not_in_future`. */
export function requireSettable(
  { status: current_state }: Pick<ConversationState, "status">,
  { status, snoozed_until }: Pick<Extract<ConversationEvent, { type: "set" }>, "status" | "snoozed_until">,
  now: Date,
): void {
  if (snoozed_until !== undefined && new Date(snoozed_until) <= now) {
    throw failField("snoozed_until", "snooze_not_in_future");
  }
  if (!allowedStatuses[current_state].includes(status)) {
    const allowed = allowedStatuses[current_state].filter((other) => other !== current_state).join(", ");
    throw fail("status_not_allowed", { current_state, value: status, allowed });
  }
}

/** The state after an event; undefined if it stays the same. */
export function changedState(
  before: ConversationState,
  event: ConversationEvent,
): ConversationState | undefined {
  const after = transition(before, event);
  const isSame =
    after?.status === before.status &&
    after.snoozed_until === before.snoozed_until &&
    after.opens_on_answer === before.opens_on_answer;
  return isSame ? undefined : after;
}

/**
 * Applies an event. A conversation that comes back may lose its agent; routing is requested if it needs one.
 */
export async function applyEvent(
  change: Change,
  conversation: ConversationRow,
  event: ConversationEvent,
): Promise<ConversationRow> {
  const state = changedState(conversation, event);
  if (!state) {
    return conversation;
  }
  const isReopened = !countsAsLoad(conversation.status) && countsAsLoad(state.status);
  const updated =
    isReopened && conversation.assigned_to !== null
      ? await reopenWithAgent(change, conversation, state)
      : await changeConversation(change, conversation, state);
  // After a reply the conversation needs no agent until the contact answers.
  if (event.type !== "reply") {
    const isAnswer = event.type === "inbound" && !isReopened;
    await requestRouting(change, [updated], isAnswer ? "inbound" : "reopen");
  }
  return updated;
}

/** Reopens a conversation with its agent if the agent is free, else unassigned. */
async function reopenWithAgent(
  change: Change,
  conversation: ConversationRow,
  state: ConversationState,
): Promise<ConversationRow> {
  const agent = await lockCurrentAgent(change, conversation);
  if (!agent || agent.blockedBy !== null) {
    const updated = await changeConversation(change, conversation, { ...state, assigned_to: null });
    const why = agent?.blockedBy ? reasonTexts[agent.blockedBy] : "no member";
    const reason = `${agent?.name ?? "The agent"} can't take it back: ${why}.`;
    await recordAssignment(change, updated, { assignment_type: "unassign", reason });
    return updated;
  }
  const { blockedBy: _blockedBy, skills: _skills, turn: _turn, ...candidate } = agent;
  const decision = {
    outcome: "assigned" as const,
    explanation: `${agent.name} had this conversation before, is available and has room: it stays there.`,
    policy_id: null,
    policy_name: null,
    strategy: null,
    team_id: conversation.team_id,
    assigned_to: conversation.assigned_to,
    candidates: [{ ...candidate, passed_over: null }],
  };
  await recordDecision(change, { conversation, trigger: "reopen", decision });
  return changeConversation(change, conversation, state);
}

/**
 * The conversation's agent as a candidate: locked as a member of its team, or just the
 * user if it has no team.
 */
async function lockCurrentAgent({ tx, now }: Change, conversation: ConversationRow) {
  const { team_id, assigned_to: user_id } = conversation;
  if (user_id === null) {
    return undefined;
  }
  return team_id === null
    ? findUser(tx, conversation, user_id)
    : lockMember(tx, conversation, { team_id, user_id, now });
}
