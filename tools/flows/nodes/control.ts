/** The nodes that wait, decide, and lead to other nodes and flows. */
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
    summary:
      "Waits: for a time, until a time or a time of day, or until the organization is open, in its time zone.",
    examples: [
      { duration: "2h" },
      { until: "09:00" },
      { until: "2030-01-31T09:00:00Z" },
      { business_hours: true },
    ],
    config: z
      .strictObject({
        duration: duration.optional(),
        until: until.optional(),
        /** Waits until the organization is open. */
        business_hours: z.literal(true).optional(),
      })
      .refine(...exactlyOne(["duration", "until", "business_hours"])),
    edges: fallible,
  }),

  condition: node({
    summary:
      "Decides by a query over the contact, conversation.status, conversation.tags, conversation.assigned_to, message.text and vars.<name>. Attributes and operators: describe_attributes. Needs children of condition_true and condition_false, or default.",
    examples: [
      { query: { attribute: "tags", operator: "has_any", value: ["vip"] } },
      { query: { attribute: "vars.order.body.status", operator: "eq", value: "shipped" } },
    ],
    config: z.strictObject({ query: jsonObject }),
    edges: ["condition_true", "condition_false", "default", "always"],
  }),

  start_flow: node({
    summary: "Starts another flow. If both may wait for replies, this run ends.",
    examples: [{ flow_id: "<flow id>" }],
    config: z.strictObject({ flow_id: z.string().min(1).max(64) }),
    sends: true,
    edges: fallible,
  }),

  goto: node({
    summary: "Continues at another node.",
    examples: [{ node_id: "menu" }],
    config: z.strictObject({ node_id: z.string().min(1).max(64) }),
    edges: [],
  }),

  end: node({ summary: "Ends the run.", examples: [{}], config: z.strictObject({}), edges: [] }),
} as const;
