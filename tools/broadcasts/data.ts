/** A broadcast as the API shows it: its states, its counts and its recipients. */
import { z } from "zod";
import { ReachedBudget } from "../budgets.ts";
import { limitedObject, timestamp, untrusted } from "../contract/index.ts";
import { MessageError } from "../messages/index.ts";
import { templateCategories } from "../templates/index.ts";
import { walletModes } from "../wallet.ts";

/**
 * draft → scheduled → processing ⇄ paused → completed; cancelled from any of the first four; failed if the
 * broadcast could not start: nothing was sent, and it may be changed and executed like a draft.
 */
export const executionStatuses = [
  "draft",
  "scheduled",
  "processing",
  "paused",
  "completed",
  "cancelled",
  "failed",
] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

/** Why a broadcast paused: a person requested it, or the service did it. */
export const pausedReasons = [
  "requested",
  "missed_schedule",
  "template_not_sendable",
  "file_missing",
  "too_many_failures",
  "budget_reached",
  "internal_error",
] as const;
export type PausedReason = (typeof pausedReasons)[number];

/** Why a contact of the cohort is not a recipient. */
export const exclusionReasons = [
  "no_number",
  "blocked",
  "opted_out",
  "address_changed",
  "missing_variable",
  "invalid_value",
  "insufficient_funds",
  "cancelled",
  "erased",
] as const;
export type ExclusionReason = (typeof exclusionReasons)[number];

/**
 * queued: a message was enqueued; sent: the channel accepted the message, and no receipt of its delivery has
 * arrived.
 */
export const recipientStatuses = [
  "pending",
  "queued",
  "sent",
  "delivered",
  "read",
  "failed",
  "excluded",
] as const;
export type RecipientStatus = (typeof recipientStatuses)[number];

/**
 * sent includes delivered messages, and delivered includes read messages: total = pending + sent + failed.
 */
export const Stats = z.object({
  total: z.int(),
  sent: z.int(),
  delivered: z.int(),
  read: z.int(),
  failed: z.int(),
});

export const BroadcastMetrics = Stats.extend({
  pending: z.int(),
  execution_status: z.enum(executionStatuses),
});

/** Counts by reason. */
const ExclusionCounts = z.partialRecord(z.enum(exclusionReasons), z.int());

const attribute = z
  .string()
  .min(1)
  .max(255)
  .regex(
    /^(?:name|phone_number|country|username|metadata\..+)$/,
    "Send name, phone_number, country, username or metadata.<path>.",
  );

/**
 * The source of a value: an attribute of the contact, with a default for contacts without it, or the same
 * text for all contacts.
 */
const Mapping = z.union([
  attribute,
  z.object({ attribute, default: z.string().min(1).max(1024).optional() }),
  z.object({ value: z.string().min(1).max(1024) }),
]);

const maxVariables = 100;

export const VariableMapping = limitedObject(
  (value) => Object.keys(value ?? {}).length <= maxVariables,
  `At most ${maxVariables} variables.`,
  z.record(z.string().max(255), Mapping),
);
export type VariableMapping = Readonly<Record<string, z.output<typeof Mapping>>>;

export const Broadcast = z.object({
  id: z.string(),
  organization_id: z.string(),
  inbox_id: z.string().nullable(),
  name: z.string(),
  cohort_id: z.string(),
  template_id: z.string(),
  variable_mapping: z.record(z.string(), z.unknown()),
  header_media_url: z.string().nullable(),
  scheduled_at: timestamp.nullable(),
  execution_status: z.enum(executionStatuses),
  paused_reason: z.enum(pausedReasons).nullable(),
  /** The budget that paused it; null unless the reason is budget_reached. */
  paused_budget: ReachedBudget.nullable(),
  /** Why a scheduled broadcast could not start. */
  failure_reason: z.string().nullable(),
  recipient_count: z.int(),
  stats: Stats,
  excluded: ExclusionCounts,
  started_at: timestamp.nullable(),
  completed_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

/** One broadcast by itself, with what it costs. */
export const BroadcastWithCost = Broadcast.extend({
  /** Null before the execution, without prices, and if summing so many messages takes too long. */
  cost: z
    .object({
      currency: z.string(),
      /** What was charged for the messages so far. */
      charged: z.number(),
      /** What is held for the recipients whose message is not delivered yet. */
      held: z.number(),
      /** Whether simulated money pays. */
      simulated: z.boolean(),
    })
    .nullable(),
});

export const BroadcastRecipient = z.object({
  contact_id: z.string(),
  contact_name: untrusted(z.string()).nullable(),
  /** Null once the contact has been erased. */
  to: z.string().nullable(),
  status: z.enum(recipientStatuses),
  /** Only for an excluded recipient. */
  reason: z.enum(exclusionReasons).nullable(),
  message_id: z.string().nullable(),
  conversation_id: z.string().nullable(),
  sent_at: timestamp.nullable(),
  delivered_at: timestamp.nullable(),
  read_at: timestamp.nullable(),
  failed_at: timestamp.nullable(),
  error: MessageError.nullable(),
});

/** What would happen if the broadcast were executed now. */
export const BroadcastEstimate = z.object({
  recipient_count: z.int(),
  excluded: ExclusionCounts,
  /** Contacts without a value, by variable, of those excluded as missing_variable. */
  missing_variables: z.record(z.string(), z.int()),
  /** Up to five of those who are excluded for each reason; empty without contacts:read. */
  excluded_samples: z.array(
    z.object({
      reason: z.enum(exclusionReasons),
      contact_id: z.string(),
      name: untrusted(z.string()).nullable(),
      /** The variables without a value; empty for another reason. */
      missing_variables: z.array(z.string()),
    }),
  ),
  category: z.enum(templateCategories),
  currency: z.string(),
  /** Null if there are no prices in the currency. */
  cost: z.number().nullable(),
  /** The cost for each country, most expensive first; null for recipients without a country. */
  costs: z.array(z.object({ country: z.string().nullable(), recipients: z.int(), cost: z.number() })),
  available: z.number(),
  available_after: z.number().nullable(),
  /** off: the broadcast is executed even if less is available. */
  mode: z.enum(walletModes),
  /** Whether simulated money pays. Then `available` is also simulated money. */
  simulated: z.boolean(),
  /** Whether the wallet would accept the broadcast. */
  is_affordable: z.boolean(),
  /** Recipients above the inbox's daily limit, who would get the message on later days. */
  waiting: z.int(),
  /** The sending time by the inbox's limits; null if it has none. */
  duration_seconds: z.int().nullable(),
  /** For example that no contact has an attribute that a variable is mapped to. */
  warnings: z.array(untrusted(z.string())),
});
