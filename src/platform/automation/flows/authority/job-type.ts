/**
 * Declares the job that switches off a flow, apart from its handler: the code that enqueues it does not
 * depend on the handler.
 */
import { z } from "zod";
import { type JobType, type NewJob, newJob } from "../../../../jobs/job.ts";

interface FlowKey {
  readonly organization_id: string;
  readonly flow_id: string;
}

export const switchOffJobType = {
  name: "flow.switch_off",
  payload: z.object({ organization_id: z.string(), flow_id: z.string() }),
} satisfies JobType<FlowKey>;

export function createSwitchOffJob({ organization_id, flow_id }: FlowKey): NewJob {
  return newJob(switchOffJobType, { organization_id, flow_id });
}
