/** The events of broadcasts. */
import { z } from "zod";
import { timestamp } from "../contract/index.ts";
import { pausedReasons, Stats } from "./data.ts";

const BroadcastChange = z.object({
  broadcast_id: z.string(),
  name: z.string(),
  /** The counts at the time of the event. */
  stats: Stats,
});

export const broadcastEvents = {
  "broadcast.started": { scope: "broadcasts:read", data: BroadcastChange },
  "broadcast.paused": {
    scope: "broadcasts:read",
    data: BroadcastChange.extend({ reason: z.enum(pausedReasons) }),
  },
  "broadcast.completed": { scope: "broadcasts:read", data: BroadcastChange },
  "broadcast.cancelled": { scope: "broadcasts:read", data: BroadcastChange },
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
