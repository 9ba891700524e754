/** The nodes that wait, decide and lead to other nodes and flows. */
import { z } from "zod";
import { jsonObject, timestamp } from "../../contract/index.ts";
import { duration, exactlyOne, fallible, node } from "./node.ts";

/** A time, or a time of day in the organization's time zone. */
const until = z
  .string()
  .max(64)
  .refine(
    (text) => /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text) || timestamp.safeParse(text).success,
    "Send a time with its offset, for example 2030-01-31T09:00:00Z, or a time of day, for example 09:00.",
  );

export const controlNodes = {
  wait: node({
    config: z
      .strictObject({
        duration: duration.optional(),
        until: until.optional(),
        /** Until the organization is open. */
        business_hours: z.literal(true).optional(),
      })
      .refine(...exactlyOne(["duration", "until", "business_hours"])),
    edges: fallible,
  }),

  condition: node({
    config: z.strictObject({ query: jsonObject }),
    edges: ["condition_true", "condition_false", "default", "always"],
  }),

  start_flow: node({
    config: z.strictObject({ flow_id: z.string().min(1).max(64) }),
    edges: fallible,
  }),

  goto: node({ config: z.strictObject({ node_id: z.string().min(1).max(64) }), edges: [] }),

  end: node({ config: z.strictObject({}), edges: [] }),
} as const;
