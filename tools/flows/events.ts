/** The events of flows. */
import { z } from "zod";

export const flowEvents = {
  "flow.disabled": {
    scope: "inbox:read",
    /** missing_scopes: what the flow needs, and the role of the user who saved it does not have any more. */
    data: z.object({ flow_id: z.string(), name: z.string(), missing_scopes: z.array(z.string()) }),
  },
} as const;
