/** Events of plans. */
import { z } from "zod";

const PlanEvent = {
  scope: "inbox:read",
  data: z.object({ plan_id: z.string(), operation: z.string() }),
} as const;

/** Events of plans that wait for a person, and of how plans end. */
export const planEvents = {
  "plan.awaiting": PlanEvent,
  "plan.released": PlanEvent,
  "plan.declined": PlanEvent,
  "plan.run": PlanEvent,
  "plan.failed": PlanEvent,
  "plan.expired": PlanEvent,
} as const;
