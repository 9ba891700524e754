/** The actions that a run can perform at its end. */
import { duration, durationMs, type EndAction } from "../../../../../tools/flows/index.ts";
import type { StoredEndActionConfig } from "../../../../database/schema/index.ts";
import type { Actions } from "../nodes/index.ts";

type Act = (actions: Actions, config: StoredEndActionConfig, now: Date) => Promise<void>;

const endActions: Readonly<Record<EndAction, Act>> = {
  none: async () => undefined,
  assign: (actions, { team_id, user_id }) => actions.assign({ team_id, user_id }),
  resolve: (actions) => actions.setStatus("closed", null),
  snooze: (actions, { until }, now) => actions.setStatus("snoozed", readUntil(until, now)),
  unassign: (actions) => actions.unassign(),
  async handoff_chatbot(actions) {
    await actions.handToBot();
  },
};

export function doEndAction(
  actions: Actions,
  {
    end_action_type,
    end_action_config,
  }: { end_action_type: EndAction; end_action_config: StoredEndActionConfig },
  now: Date,
): Promise<void> {
  return endActions[end_action_type](actions, end_action_config, now);
}

/** Returns null (until the contact writes) if there is no time, or the time has passed. */
function readUntil(until: string | undefined, now: Date): Date | null {
  if (until === undefined) {
    return null;
  }
  const time = duration.safeParse(until).success
    ? new Date(now.getTime() + durationMs(until))
    : new Date(until);
  return time > now ? time : null;
}
