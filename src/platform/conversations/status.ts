/** Changes a conversation's status, by hand or by what happens: what comes back keeps its agent only if they can take it. */
import { fail, failField } from "../../../tools/errors.ts";
import { type Change, countsAsLoad, type ModuleJob } from "../kernel/index.ts";
import { findUser, lockMember, recordDecision } from "../routing/index.ts";
import { recordAssignment } from "./assignments.ts";
import { changeConversation, type Thread } from "./change.ts";
import { requestRouting, withConversation } from "./route.ts";
import { allowedStatuses, type ConversationEvent, type ConversationState, transition } from "./states.ts";

/** Opens what was snoozed, at its time. */
export const wakeJob: ModuleJob<{ organization_id: string; conversation_id: string; until: string }> = {
  name: "conversation.wake",

  async run({ until, ...payload }, world) {
    await withConversation(world, payload, async (work, conversation) => {
      await applyEvent(work, conversation, { type: "wake", until });
    });
    return undefined;
  },
};

/**
 * Sets the status as somebody asked for.
 * @throws Failure `status_not_allowed` or `snooze_not_in_future`.
 */
export async function setStatus(
  work: Change,
  conversation: Thread,
  happening: Extract<ConversationEvent, { type: "set" }>,
): Promise<Thread> {
  const { status, snoozed_until } = happening;
  const until = snoozed_until === undefined ? undefined : new Date(snoozed_until);
  if (until && until <= work.now) {
    throw failField("snoozed_until", "snooze_not_in_future");
  }
  if (!allowedStatuses[conversation.status].includes(status)) {
    const allowed = allowedStatuses[conversation.status]
      .filter((one) => one !== conversation.status)
      .join(", ");
    throw fail("status_not_allowed", { current_state: conversation.status, value: status, allowed });
  }
  const moved = await applyEvent(work, conversation, {
    type: "set",
    status,
    snoozed_until: until?.toISOString(),
  });
  if (until && moved.snoozed_until !== null) {
    const { organization_id, id: conversation_id } = conversation;
    await work.world.jobs.enqueue(work.tx, {
      name: wakeJob.name,
      payload: { organization_id, conversation_id, until: moved.snoozed_until },
      organization_id,
      runAt: until,
    });
  }
  return moved;
}

/** What happened to the conversation, with all that follows: its agent may be lost, and another one is looked for. */
export async function applyEvent(
  work: Change,
  conversation: Thread,
  happening: ConversationEvent,
): Promise<Thread> {
  const state = transition(conversation, happening);
  if (
    !state ||
    (state.status === conversation.status && state.snoozed_until === conversation.snoozed_until)
  ) {
    return conversation;
  }
  const comesBack = !countsAsLoad(conversation.status) && countsAsLoad(state.status);
  const moved =
    comesBack && conversation.assigned_to !== null
      ? await reopenWithAgent(work, conversation, state)
      : await changeConversation(work, conversation, state);
  // A reply is somebody's own: it needs no agent until the contact answers.
  if (happening.type !== "reply") {
    await requestRouting(work, moved, "reopen");
  }
  return moved;
}

/** Gives a conversation back to its agent if they are there and have room; else it is nobody's. */
async function reopenWithAgent(
  work: Change,
  conversation: Thread,
  state: ConversationState,
): Promise<Thread> {
  const agent = await findAgent(work, conversation);
  if (agent && agent.blockedBy === null) {
    const { blockedBy: _, skills: _skills, turn: _turn, ...candidate } = agent;
    const explanation = `${agent.name} had this conversation before, is available and has room: it stays there.`;
    const { team_id, assigned_to } = conversation;
    const nothing = { policy_id: null, policy_name: null, strategy: null };
    const candidates = [{ ...candidate, passed_over: null }];
    const decision = {
      outcome: "assigned" as const,
      explanation,
      ...nothing,
      team_id,
      assigned_to,
      candidates,
    };
    await recordDecision(work, { conversation, trigger: "reopen", decision });
    return changeConversation(work, conversation, state);
  }
  const moved = await changeConversation(work, conversation, { ...state, assigned_to: null });
  const reason = `${agent?.name ?? "The agent"} can't take it back: ${agent?.blockedBy ?? "no member"}.`;
  await recordAssignment(work, moved, { assignment_type: "unassign", reason });
  return moved;
}

/** Who has the conversation, with what keeps them from taking it; without a team only whether they are active. */
async function findAgent({ tx }: Change, conversation: Thread) {
  const { team_id, assigned_to: user_id } = conversation;
  if (user_id === null) {
    return undefined;
  }
  return team_id === null
    ? findUser(tx, conversation, user_id)
    : lockMember(tx, conversation, { team_id, user_id });
}
