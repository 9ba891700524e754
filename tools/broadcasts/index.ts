/** Broadcasts: an approved template sent once to every contact of a cohort. */
import { z } from "zod";
import {
  DeletionResult,
  describedForTools,
  fileAddress,
  id,
  inboxId,
  inputTimestamp,
  no,
  one,
  operation,
  paged,
  paging,
  recipient,
  yes,
} from "../contract/index.ts";
import {
  Broadcast,
  BroadcastEstimate,
  BroadcastMetrics,
  BroadcastRecipient,
  BroadcastWithCost,
  executionStatuses,
  recipientStatuses,
  VariableMapping,
} from "./data.ts";

export * from "./data.ts";
export { broadcastErrors } from "./errors.ts";
export { broadcastEvents } from "./events.ts";

const broadcastId = id("Broadcast", "list_broadcasts");
const name = z.string().trim().min(1).max(255).describe("Name");
const cohort_id = id("Cohort", "list_cohorts");
const template_id = id("Approved template", "list_templates");
const variable_mapping = describedForTools(
  VariableMapping.describe(
    'Value of each template variable: name, phone_number, country or metadata.<path> of the contact, with or without a default, or one value for all. For example {"1":{"attribute":"name","default":"there"}}',
  ),
  "Each template variable: an attribute of the contact (name, phone_number, country or metadata.<path>) with a default, or one value for all",
);
const header_media_url = fileAddress.describe("File of a media header; by default the template's");
const scheduled_at = inputTimestamp.describe("Send time, within 30 days");

const sends = {
  destructive: yes("Messages that were sent can't be called back."),
  idempotent: no("Each call sends messages."),
  openWorld: yes("It sends messages to people."),
} as const;

/** With `scheduled_at` it needs no further call. */
const schedules = {
  destructive: yes("A scheduled broadcast sends messages by itself."),
  openWorld: yes("A scheduled broadcast sends messages to people."),
} as const;

export const broadcasts = {
  create_broadcast: operation({
    method: "POST",
    path: "/v1/broadcasts",
    scope: "broadcasts:create",
    tier: "lean",
    title: "Create broadcast",
    description:
      "Create a broadcast of an approved template to a cohort: a draft, or with scheduled_at a scheduled one. Check it with estimate_broadcast, send it with execute_broadcast.",
    input: z.object({
      name,
      cohort_id,
      template_id,
      inbox_id: inboxId.optional().describe("The template's inbox"),
      variable_mapping: variable_mapping.default({}),
      header_media_url: header_media_url.optional(),
      scheduled_at: scheduled_at.optional(),
    }),
    output: one(Broadcast),
    status: 201,
    hints: schedules,
  }),

  list_broadcasts: operation({
    method: "GET",
    path: "/v1/broadcasts",
    scope: "broadcasts:read",
    tier: "lean",
    title: "List broadcasts",
    description: "List broadcasts with their counts, newest first.",
    input: z.object({
      status: z.enum(executionStatuses).optional().describe("Only this status"),
      search: z.string().max(255).optional().describe("Part of a name"),
      ...paging(25),
    }),
    output: paged(Broadcast),
  }),

  get_broadcast: operation({
    method: "GET",
    path: "/v1/broadcasts/{id}",
    scope: "broadcasts:read",
    tier: "extended",
    title: "Get broadcast",
    description:
      "Get a broadcast: its status, counts, exclusions by reason, why it paused or failed, and its cost: what was charged so far and what is held.",
    input: z.object({ id: broadcastId }),
    output: one(BroadcastWithCost),
  }),

  update_broadcast: operation({
    method: "PUT",
    path: "/v1/broadcasts/{id}",
    scope: "broadcasts:create",
    title: "Update broadcast",
    description: "Change a draft, scheduled or failed broadcast. Only the fields sent change.",
    input: z.object({
      id: broadcastId,
      name: name.optional(),
      cohort_id: cohort_id.optional(),
      template_id: template_id.optional(),
      variable_mapping: variable_mapping.optional(),
      header_media_url: describedForTools(
        header_media_url.nullable().optional(),
        "File of a media header; empty: the template's",
      ),
      scheduled_at: describedForTools(
        scheduled_at.nullable().optional().describe("Send time; null makes it a draft"),
        "Send time; empty makes it a draft",
      ),
    }),
    output: one(Broadcast),
    hints: schedules,
    tier: "extended",
  }),

  delete_broadcast: operation({
    method: "DELETE",
    path: "/v1/broadcasts/{id}",
    scope: "broadcasts:create",
    title: "Delete broadcast",
    description:
      "Delete a draft or failed broadcast. A scheduled one is cancelled first, with cancel_broadcast.",
    input: z.object({ id: broadcastId }),
    output: one(DeletionResult),
    tier: "extended",
  }),

  execute_broadcast: operation({
    method: "POST",
    path: "/v1/broadcasts/{id}/execute",
    scope: "broadcasts:send",
    failures: [402],
    tier: "lean",
    title: "Execute broadcast",
    description:
      "Send a draft, scheduled or failed broadcast now to its cohort. This can't be undone. Follow it with wait_for_broadcast. Stop it with cancel_broadcast.",
    input: z.object({
      id: broadcastId,
      allow_partial: z.boolean().default(false).describe("Send to as many as the wallet can pay for"),
    }),
    output: one(Broadcast),
    hints: sends,
  }),

  pause_broadcast: operation({
    method: "POST",
    path: "/v1/broadcasts/{id}/pause",
    scope: "broadcasts:send",
    title: "Pause broadcast",
    description:
      "Pause a broadcast that is being sent. At most 1,000 messages that are already queued are still sent. Continue with resume_broadcast.",
    input: z.object({ id: broadcastId }),
    output: one(Broadcast),
    tier: "extended",
    hints: {
      destructive: no("It can be continued."),
      idempotent: yes("A paused broadcast stays paused."),
    },
  }),

  resume_broadcast: operation({
    method: "POST",
    path: "/v1/broadcasts/{id}/resume",
    scope: "broadcasts:send",
    title: "Resume broadcast",
    description: "Continue a paused broadcast with the recipients that are left.",
    input: z.object({ id: broadcastId }),
    output: one(Broadcast),
    tier: "extended",
    hints: sends,
  }),

  cancel_broadcast: operation({
    method: "POST",
    path: "/v1/broadcasts/{id}/cancel",
    scope: "broadcasts:send",
    tier: "extended",
    title: "Cancel broadcast",
    description: "Stop a broadcast for good. Up to 1,000 messages that are queued are still sent.",
    input: z.object({ id: broadcastId }),
    output: one(Broadcast),
    hints: {
      destructive: yes("A cancelled broadcast can't be continued."),
      idempotent: yes("A cancelled broadcast stays cancelled."),
    },
  }),

  retry_broadcast: operation({
    method: "POST",
    path: "/v1/broadcasts/{id}/retry",
    scope: "broadcasts:send",
    failures: [402],
    tier: "extended",
    title: "Retry broadcast",
    description:
      "Send a completed or cancelled broadcast again to recipients whose message failed, or whom a cancel left out.",
    input: z.object({
      id: broadcastId,
      scope: z.enum(["failed", "pending"]).default("failed").describe("pending: whom a cancel left out"),
      only_retryable: z
        .boolean()
        .default(true)
        .describe("Of the failed, only those whose error says that a retry can help"),
      include_unconfirmed: z
        .boolean()
        .default(false)
        .describe(
          "Also those whose message failed as unconfirmed: it may have arrived, and would come twice",
        ),
    }),
    output: one(
      Broadcast.extend({
        /** Recipients that get the message again. */
        retried: z.int(),
      }),
    ),
    hints: sends,
  }),

  estimate_broadcast: operation({
    method: "GET",
    path: "/v1/broadcasts/{id}/estimate",
    scope: "broadcasts:read",
    tier: "lean",
    title: "Estimate broadcast",
    description:
      "Count whom a draft, scheduled or failed broadcast would reach and exclude now, its cost by country, and whether the wallet can pay it (is_affordable).",
    input: z.object({ id: broadcastId }),
    output: one(BroadcastEstimate),
    failures: [422],
  }),

  test_broadcast: operation({
    method: "POST",
    path: "/v1/broadcasts/{id}/test",
    scope: "broadcasts:send",
    failures: [402],
    title: "Test broadcast",
    description:
      "Send the message of a broadcast to one number, with the values of that contact. Values that the contact lacks are shown as [variable].",
    input: z.object({ id: broadcastId, to: recipient }),
    output: one(z.object({ message_id: z.string(), conversation_id: z.string() })),
    status: 201,
    tier: "extended",
    hints: sends,
  }),

  list_broadcast_recipients: operation({
    method: "GET",
    path: "/v1/broadcasts/{id}/recipients",
    scope: { all: ["broadcasts:read", "contacts:read"] },
    tier: "extended",
    title: "List broadcast recipients",
    description:
      "List a broadcast's recipients with status, error, and why some were excluded. Send again to the failed ones with retry_broadcast.",
    input: z.object({
      id: broadcastId,
      status: z.enum(recipientStatuses).optional().describe("Only this status"),
      ...paging(25),
    }),
    output: paged(BroadcastRecipient),
  }),

  get_broadcast_metrics: operation({
    method: "GET",
    path: "/v1/broadcasts/{id}/metrics",
    scope: "broadcasts:read",
    tier: "lean",
    title: "Get broadcast metrics",
    description: "Count a broadcast's messages by status. sent includes delivered, which includes read.",
    input: z.object({ id: broadcastId }),
    output: one(BroadcastMetrics),
  }),

  wait_for_broadcast: operation({
    method: "GET",
    path: "/v1/broadcasts/{id}/wait",
    scope: "broadcasts:read",
    tier: "extended",
    title: "Wait for broadcast",
    description:
      "Wait until a broadcast has ended or paused, or until the timeout. Returns the counts; delivered and read rise after it: see get_broadcast_metrics.",
    input: z.object({
      id: broadcastId,
      timeout_seconds: z.int().min(0).max(55).default(25).describe("Seconds to wait, at most 55"),
    }),
    output: one(BroadcastMetrics.extend({ is_timed_out: z.boolean() })),
    waits: true,
    progress: { counts: ["sent", "failed"], total: "total" },
  }),
};
