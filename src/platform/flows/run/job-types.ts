/** The names and payloads of the jobs of runs: what enqueues them need not know what they do. */
import { z } from "zod";
import type { JobType } from "../../../jobs/job.ts";
import type { RunKey } from "./rows.ts";

const RunKeySchema = z.object({
  organization_id: z.string(),
  conversation_id: z.string(),
  contact_id: z.string(),
  run_id: z.string(),
});

export const advanceJobType = { name: "flow.advance", payload: RunKeySchema } satisfies JobType<RunKey>;

export const resumeJobType = {
  name: "flow.resume",
  payload: RunKeySchema.extend({ episode: z.number() }),
} satisfies JobType<RunKey & { readonly episode: number }>;
