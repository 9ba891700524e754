/** The events of broadcasts. */
import { z } from "zod";
import { timestamp } from "../contract/index.ts";

export const broadcastEvents = {
  "broadcast.not_started": {
    scope: "broadcasts:read",
    data: z.object({
      broadcast_id: z.string(),
      name: z.string(),
      scheduled_at: timestamp,
      /** paused: the broadcast missed its time. */
      execution_status: z.enum(["failed", "paused"]),
      /** The code of an error, such as insufficient_funds, or missed_schedule. */
      reason: z.string(),
    }),
  },
} as const;
