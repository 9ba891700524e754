/** The trigger of a flow in a request. */
import { z } from "zod";
import { jsonObject } from "../contract/index.ts";
import { keywordMatches, oneOf, triggerEvents, triggerTypes } from "./data.ts";
import { scheduleTime, scheduleTimeZone } from "./time-zone.ts";

export const trigger_type = z.enum(triggerTypes).describe("Start");

export const triggerFields = {
  trigger_keyword: z.string().trim().min(1).max(255).optional().describe("For keyword; comma-separated"),
  trigger_match: z.enum(keywordMatches).optional().describe("For keyword; default word"),
  trigger_event_type: z
    .string()
    .max(64)
    // Only the error lists the names: a caller that guesses a name reads it, and the list of tools has no
    // room for them.
    .pipe(oneOf(triggerEvents))
    .optional()
    .describe("For event"),
  trigger_schedule: z.string().trim().max(255).optional().describe("Cron"),
  trigger_schedule_at: scheduleTime.optional(),
  trigger_schedule_timezone: scheduleTimeZone.optional(),
  settings: jsonObject.optional().describe("Of schedules and tags"),
};

/** The fields that each type of trigger requires. */
const requiredFields = {
  keyword: ["trigger_keyword"],
  event: ["trigger_event_type"],
  schedule: ["trigger_schedule", "trigger_schedule_at"],
} as const;

interface SentTrigger {
  readonly trigger_type?: keyof typeof requiredFields | undefined;
  readonly trigger_keyword?: string | undefined;
  readonly trigger_event_type?: string | undefined;
  readonly trigger_schedule?: string | undefined;
  readonly trigger_schedule_at?: string | undefined;
}

export function requireTrigger(flow: SentTrigger, context: z.core.$RefinementCtx): void {
  const { trigger_type } = flow;
  const needed = trigger_type ? requiredFields[trigger_type] : undefined;
  if (needed?.every((field) => flow[field] === undefined)) {
    const message = `A flow of trigger_type ${trigger_type} needs ${needed.join(" or ")}.`;
    context.addIssue({ code: "custom", path: [needed[0]], message });
  }
  if (flow.trigger_schedule !== undefined && flow.trigger_schedule_at !== undefined) {
    const message = "Send trigger_schedule or trigger_schedule_at, not both.";
    context.addIssue({ code: "custom", path: ["trigger_schedule_at"], message });
  }
}
