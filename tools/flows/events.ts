/** The events of flows. */
import { z } from "zod";

export const flowEvents = {
  "flow.disabled": {
    scope: "inbox:read",
    /** missing_scopes: the scopes that the flow needs and the role of the user who saved it no longer has. */
    data: z.object({ flow_id: z.string(), name: z.string(), missing_scopes: z.array(z.string()) }),
  },
  "flow.run_failed": {
    scope: "inbox:read",
    data: z.object({
      run_id: z.string(),
      flow_id: z.string(),
      conversation_id: z.string(),
      contact_id: z.string(),
      /** The code of an error, as in the run. */
      reason: z.string(),
    }),
  },
} as const;
