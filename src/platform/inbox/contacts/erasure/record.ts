/** The job that writes an erasure to the log outside of the database, after the commit of the erasure. */
import { z } from "zod";
import type { JobPayload } from "../../../../jobs/job.ts";
import { defineJob } from "../../../foundation/kernel/index.ts";

interface ErasureToRecord extends JobPayload {
  /** Not `organization_id`: the job works for the service, also while the organization is suspended. */
  readonly organization: string;
  readonly contact_id: string;
  readonly erased_at: string;
}

export const recordErasureJob = defineJob<ErasureToRecord>({
  name: "erasure.record",
  payload: z.object({ organization: z.string(), contact_id: z.string(), erased_at: z.string() }),
  // It waits, with up to an hour between two attempts, for as long as the log can't be written.
  maxAttempts: 1_000_000,

  async run({ organization, contact_id, erased_at }, { erasureLog }) {
    if (erasureLog === undefined) {
      throw new Error("TIDINGS_ERASURE_LOG is not set in this process.");
    }
    await erasureLog.append({
      kind: "contact",
      organization_id: organization,
      id: contact_id,
      at: erased_at,
    });
    return undefined;
  },
});
