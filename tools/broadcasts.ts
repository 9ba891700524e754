/** Broadcasts: an approved template sent to every contact of a cohort. */
import { z } from "zod";
import { id, inboxId, inputTimestamp, jsonObject, one, operation, timestamp } from "./contract/index.ts";

export const executionStatuses = [
  "draft",
  "scheduled",
  "processing",
  "paused",
  "completed",
  "cancelled",
  "failed",
] as const;

const Stats = z.object({
  total: z.int(),
  sent: z.int(),
  delivered: z.int(),
  read: z.int(),
  failed: z.int(),
});

const Broadcast = z.object({
  id: z.string(),
  organization_id: z.string(),
  inbox_id: z.string().nullable(),
  name: z.string(),
  cohort_id: z.string(),
  template_id: z.string(),
  variable_mapping: z.record(z.string(), z.unknown()),
  scheduled_at: timestamp.nullable(),
  execution_status: z.enum(executionStatuses),
  recipient_count: z.int(),
  stats: Stats,
  created_at: timestamp,
  updated_at: timestamp,
});

const broadcastId = z.string().min(1).max(64).describe("Broadcast id");

export const broadcasts = {
  create_broadcast: operation({
    method: "POST",
    path: "/v1/broadcasts",
    scope: "broadcasts:create",
    title: "Create broadcast",
    description:
      "Create a broadcast of an approved template to a cohort. With scheduled_at it is sent at that time, otherwise it stays a draft. Send a draft with execute_broadcast.",
    input: z.object({
      name: z.string().min(1).max(255).describe("Name"),
      cohort_id: z.string().min(1).max(64).describe("Cohort id"),
      template_id: id("Approved template", "list_templates"),
      inbox_id: inboxId.optional(),
      variable_mapping: jsonObject
        .default({})
        .describe('Contact attribute for each template variable, for example {"1":"name"}'),
      scheduled_at: inputTimestamp.optional().describe("Send time, ISO 8601 with offset, within 30 days"),
    }),
    output: one(Broadcast),
    status: 201,
    hints: { destructive: true, openWorld: true },
  }),

  execute_broadcast: operation({
    method: "POST",
    path: "/v1/broadcasts/{id}/execute",
    scope: "broadcasts:send",
    title: "Execute broadcast",
    description:
      "Send a draft or scheduled broadcast now to every contact of its cohort. This can't be undone. Follow its progress with get_broadcast_metrics.",
    input: z.object({ id: broadcastId }),
    output: one(Broadcast),
    hints: { destructive: true, openWorld: true },
  }),

  get_broadcast_metrics: operation({
    method: "GET",
    path: "/v1/broadcasts/{id}/metrics",
    scope: "broadcasts:read",
    title: "Get broadcast metrics",
    description: "Count a broadcast's messages that are pending, sent, delivered, read and failed.",
    input: z.object({ id: broadcastId }),
    output: one(Stats.extend({ pending: z.int() })),
  }),
};
