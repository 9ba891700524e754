/** Changes a thread's status, by hand or by what happens: what comes back keeps its agent only if they can take it. */
import { fail, failField } from "../../../tools/errors.ts";
import { type Change, isBusy, type ModuleJob } from "../kernel/index.ts";
import { findUser, lockSeat, recordDecision } from "../routing/index.ts";
import { recordAssignment } from "./assignments.ts";
import { move, type Thread } from "./move.ts";
import { requestRouting, withThread } from "./route.ts";
import { type Happening, type State, settable, transition } from "./states.ts";

/** Opens what was snoozed, at its time. */
export const wake: ModuleJob<{ organization_id: string; conversation_id: string; until: string }> = {
  name: "conversation.wake",

  async run({ until, ...payload }, world) {
    await withThread(world, payload, async (work, thread) => {
      await happen(work, thread, { type: "wake", until });
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
  thread: Thread,
  happening: Extract<Happening, { type: "set" }>,
): Promise<Thread> {
  const { status, snoozed_until } = happening;
  const until = snoozed_until === undefined ? undefined : new Date(snoozed_until);
  if (until && until <= work.now) {
    throw failField("snoozed_until", "snooze_not_in_future");
  }
  if (!settable[thread.status].includes(status)) {
    const allowed = settable[thread.status].filter((one) => one !== thread.status).join(", ");
    throw fail("status_not_allowed", { current_state: thread.status, value: status, allowed });
  }
  const moved = await happen(work, thread, { type: "set", status, snoozed_until: until?.toISOString() });
  if (until && moved.snoozed_until !== null) {
    const { organization_id, id: conversation_id } = thread;
    await work.world.jobs.enqueue(work.tx, {
      name: wake.name,
      payload: { organization_id, conversation_id, until: moved.snoozed_until },
      organization_id,
      runAt: until,
    });
  }
  return moved;
}

/** What happened to the thread, with all that follows: its agent may be lost, and another one is looked for. */
export async function happen(work: Change, thread: Thread, happening: Happening): Promise<Thread> {
  const state = transition(thread, happening);
  if (!state || (state.status === thread.status && state.snoozed_until === thread.snoozed_until)) {
    return thread;
  }
  const comesBack = !isBusy(thread.status) && isBusy(state.status);
  const moved =
    comesBack && thread.assigned_to !== null
      ? await reopenFor(work, thread, state)
      : await move(work, thread, state);
  // A reply is somebody's own: it needs no agent until the contact answers.
  if (happening.type !== "reply") {
    await requestRouting(work, moved, "reopen");
  }
  return moved;
}

/** Gives a thread back to its agent if they are there and have room; else it is nobody's. */
async function reopenFor(work: Change, thread: Thread, state: State): Promise<Thread> {
  const agent = await findAgent(work, thread);
  if (agent && agent.obstacle === null) {
    const { obstacle: _, skills: _skills, turn: _turn, ...candidate } = agent;
    const explanation = `${agent.name} had this conversation before, is available and has room: it stays there.`;
    const { team_id, assigned_to } = thread;
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
    await recordDecision(work, { thread, trigger: "reopen", decision });
    return move(work, thread, state);
  }
  const moved = await move(work, thread, { ...state, assigned_to: null });
  const reason = `${agent?.name ?? "The agent"} can't take it back: ${agent?.obstacle ?? "no member"}.`;
  await recordAssignment(work, moved, { assignment_type: "unassign", reason });
  return moved;
}

/** Who has the thread, with what keeps them from taking it; without a team only whether they are active. */
async function findAgent({ tx }: Change, thread: Thread) {
  const { team_id, assigned_to: user_id } = thread;
  if (user_id === null) {
    return undefined;
  }
  return team_id === null ? findUser(tx, thread, user_id) : lockSeat(tx, thread, { team_id, user_id });
}
