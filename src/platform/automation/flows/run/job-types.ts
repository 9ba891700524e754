/**
 * The names and payloads of the jobs of runs, apart from their handlers: the code that enqueues a job does
 * not depend on its handler.
 */
import { z } from "zod";
import type { JobType } from "../../../../jobs/job.ts";
import type { RunKey } from "./rows.ts";

const RunKeySchema = z.object({
  organization_id: z.string(),
  conversation_id: z.string(),
  contact_id: z.string(),
  run_id: z.string(),
});

export const advanceJobType = { name: "flow.advance", payload: RunKeySchema } satisfies JobType<RunKey>;

const EpisodeSchema = RunKeySchema.extend({ episode: z.number() });

/** Identifies a wait of a run. */
export type EpisodeKey = RunKey & { readonly episode: number };

export const resumeJobType = {
  name: "flow.resume",
  payload: EpisodeSchema,
} satisfies JobType<EpisodeKey>;

export const callJobType = { name: "flow.call", payload: EpisodeSchema } satisfies JobType<EpisodeKey>;
