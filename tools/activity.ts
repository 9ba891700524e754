/** The record of acts: who called what, with which outcome. */
import { z } from "zod";
import { ReachedBudget } from "./budgets.ts";
import { chatbot } from "./chatbot.ts";
import {
  id,
  inputTimestamp,
  one,
  operation,
  paged,
  pageSize,
  paging,
  timestamp,
  untrusted,
} from "./contract/index.ts";
import { flows } from "./flows/index.ts";
import { ledger } from "./ledger.ts";
import { MessageError, messages } from "./messages/index.ts";
import { routing } from "./routing.ts";
import { webhooks } from "./webhooks.ts";

export const agentTypes = ["api_key", "user", "operator", "system"] as const;

/** waiting: it waits for a person, because of a rule or a budget. */
export const actOutcomes = ["done", "waiting", "refused"] as const;

export const Act = z.object({
  id: z.string(),
  /** When the call began. */
  created_at: timestamp,
  /** `system` is a call that another process of the service has ended. */
  by: z.object({ type: z.enum(agentTypes), id: z.string(), name: z.string() }),
  /** The sign-in of a user; null for a key. */
  session_id: z.string().nullable(),
  operation: z.string(),
  /** The MCP tool that made the call; null for a REST request. */
  tool: z.string().nullable(),
  /**
   * The input. "…" stands for a text, an address, or anything else that is not recorded. Null once a contact
   * that it named was erased.
   */
  arguments: z.record(z.string(), z.unknown()).nullable(),
  outcome: z.enum(actOutcomes),
  status: z.int(),
  error_code: z.string().nullable(),
  /** The budget that held it back; null: none did. */
  budget: ReachedBudget.nullable(),
  duration_ms: z.int(),
  /** The ids in the input and, of a call that changed something, in its answer. */
  ids: z.array(z.string()),
});

export const ReadCount = z.object({
  minute: timestamp,
  by: z.object({ type: z.enum(agentTypes), id: z.string(), name: z.string() }),
  operation: z.string(),
  count: z.int(),
});

const operationName = z.string().min(1).max(128).describe("Name of an operation");
/** Also of those that were deleted, of the operator and of the service itself. */
const agentId = z
  .string()
  .max(64)
  .regex(/^(?:key|usr)_|^(?:machine|operator|system)$/, "Send the id of an API key or a user, not its name.")
  .describe("Id of an API key or a user");

export const timeFilters = {
  since: inputTimestamp.optional().describe("From this time on"),
  until: inputTimestamp.optional().describe("Before this time"),
};

/** The filters of the list, also for its CSV file. */
export const actFilters = z.object({
  by: agentId.optional(),
  session_id: z.string().min(1).max(64).optional().describe("Of a sign-in"),
  operation: operationName.optional(),
  contact_id: id("Contact", "list_contacts").optional(),
  outcome: z.enum(actOutcomes).optional().describe("refused: it changed nothing; waiting: for a person"),
  ...timeFilters,
});

export const actPage = {
  after: z.string().min(1).max(64).optional().describe("cursor of the previous page"),
  per_page: pageSize(25),
};

export const ActList = z.object({
  data: z.array(Act),
  meta: z.object({
    /** For the next page; null if there is none. */
    cursor: z.string().nullable(),
  }),
});

const Message = messages.get_message.output.shape.data;
const Decision = routing.list_routing_decisions.output.shape.data.element;
const Run = flows.list_flow_runs.output.shape.data.element;
const Delivery = webhooks.replay_webhook_delivery.output.shape.data;

/** Why the message was sent, or where it went. Null where it does not apply. */
const Reasons = z.object({
  broadcast: z.object({ id: z.string(), name: z.string() }).nullable(),
  flow: z
    .object({
      flow_id: z.string(),
      run_id: z.string(),
      trigger_type: Run.shape.trigger_type,
      /** The step that sent the message. */
      node_id: z.string(),
      node_type: z.string(),
    })
    .nullable(),
  /** The answer of the chatbot that is the message. */
  bot: z
    .object({
      turn_id: z.string(),
      agent_used: z.string().nullable(),
      sources: chatbot.chat_with_bot.output.shape.data.shape.sources,
    })
    .nullable(),
  /** The plan that the call ran. */
  plan: z
    .object({
      id: z.string(),
      summary: untrusted(z.string()),
      /** Why a person had to release it; null: nobody had to. */
      why: z.array(z.string()).nullable(),
      created_at: timestamp,
    })
    .nullable(),
  /** The latest decision about the conversation before the message, or that a received message caused. */
  routing: Decision.pick({
    id: true,
    trigger: true,
    outcome: true,
    explanation: true,
    policy_name: true,
    assigned_to: true,
    created_at: true,
  }).nullable(),
});

const MessageHistory = z.object({
  message: Message.pick({
    id: true,
    conversation_id: true,
    direction: true,
    type: true,
    status: true,
    sent_by: true,
    error: true,
    waiting_for: true,
    created_at: true,
  }),
  contact_id: z.string(),
  /** The call that sent it, or that started its broadcast or flow. Null without the scope tokens:read. */
  call: Act.nullable(),
  reasons: Reasons,
  attempts: z.object({
    /** How often the channel refused the message temporarily. */
    refused: z.int(),
    /** When the last attempt began. */
    last_at: timestamp.nullable(),
    /** The last temporary refusal. */
    last_error: MessageError.pick({ code: true, channel_code: true, title: true, detail: true }).nullable(),
    /** The message's id at the channel; null if the channel has not accepted it. */
    channel_message_id: z.string().nullable(),
  }),
  /** As the channel reported them, the oldest first. */
  receipts: z.array(
    z.object({
      type: z.enum(["sent", "delivered", "read", "failed"]),
      occurred_at: timestamp,
      error: MessageError.nullable(),
    }),
  ),
  /** The deliveries of its events. Null without the scope tokens:read. */
  webhooks: z
    .array(
      Delivery.pick({ id: true, type: true, status: true, next_try_at: true }).extend({
        webhook_id: z.string(),
        url: z.string(),
        attempt_count: z.int(),
        last_status_code: z.int().nullable(),
      }),
    )
    .nullable(),
  /** The entries of the ledger, the newest first. */
  money: z.array(
    ledger.list_ledger_entries.output.shape.data.element.pick({
      id: true,
      type: true,
      amount: true,
      currency: true,
      from_account: true,
      to_account: true,
      simulated: true,
      created_at: true,
    }),
  ),
});

export const activity = {
  list_activity: operation({
    method: "GET",
    path: "/v1/activity",
    scope: "tokens:read",
    tier: "extended",
    title: "List activity",
    description:
      "List what people, API keys and assistants did, the newest first: writes, refused calls, sign-ins and calls of tools. Secrets and texts are not recorded. list_read_counts has the reads over REST.",
    input: z.object({ ...actFilters.shape, ...actPage }),
    output: ActList,
  }),

  list_read_counts: operation({
    method: "GET",
    path: "/v1/activity/reads",
    scope: "tokens:read",
    tier: "extended",
    title: "List read counts",
    description: "List how often each API key and user read what over REST, by minute, the newest first.",
    input: z.object({
      by: agentId.optional(),
      operation: operationName.optional(),
      ...timeFilters,
      ...paging(25),
    }),
    output: paged(ReadCount),
  }),

  explain_message: operation({
    method: "GET",
    path: "/v1/messages/{id}/history",
    scope: "inbox:read",
    tier: "extended",
    title: "Explain message",
    description:
      "Explain one message: the call that sent it, the broadcast, flow, plan or answer of the chatbot behind it, attempts, receipts, webhooks and money. The call and the webhooks also need the scope tokens:read.",
    input: z.object({ id: id("Message", "list_messages") }),
    output: one(MessageHistory),
  }),
};
