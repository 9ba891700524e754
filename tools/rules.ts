/** Rules: which calls of a key, or of an assistant through MCP, need a plan or a person first. */
import { z } from "zod";
import { Budgets, BudgetUse } from "./budgets.ts";
import { type ErrorEntry, errorEntry, jsonObject, one, operation } from "./contract/index.ts";

/**
 * auto: calls run. plan: a call needs a plan, which is then run. confirm: the user of the client confirms it
 * first. approve: a person releases it first. The order is from loose to strict.
 */
export const ruleModes = ["auto", "plan", "confirm", "approve"] as const;

const limited = (what: string) => z.array(z.string().min(1).max(255)).min(1).max(100).describe(what);

/** What a person has to release, in each mode. */
const Conditions = z.object({
  recipients_above: z.int().min(0).optional().describe("More people than this"),
  amount_above: z.number().min(0).optional().describe("A price above this, in the currency's unit"),
  new_contacts: z.boolean().optional().describe("New contacts, and messages to people who are none"),
  broadcasts: z.boolean().optional().describe("Broadcasts, whatever their size"),
  delete: z.boolean().optional().describe("Deleting"),
  export: z.boolean().optional().describe("Downloads of many rows, which a person makes instead"),
  configure: z.boolean().optional().describe("Whatever acts later: flows, the bot, webhooks, inboxes, keys"),
  outside_hours: z.boolean().optional().describe("Whatever is called outside the business hours"),
});

/** What messages, and which operations, are allowed. Everything else is refused. */
const Allowed = z.object({
  operations: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(200)
    .optional()
    .describe("Names of operations; all others are refused, reads too"),
  inboxes: limited("Ids of inboxes").optional(),
  templates: limited("Names of templates; other messages are refused").optional(),
  cohorts: limited("Ids of cohorts; messages that go to no cohort are refused").optional(),
  countries: limited("Countries of phone numbers, like ES").optional(),
  when: jsonObject
    .optional()
    .describe("Conditions on the contact, in the form of preview_cohort; other messages are refused"),
});

export const Rules = z.object({
  mode: z.enum(ruleModes).default("auto").describe("auto, plan, confirm or approve"),
  approve: Conditions.default({}).describe("What a person has to release, in each mode"),
  allow: Allowed.default({}).describe("What messages and operations are allowed"),
  budgets: Budgets.nullable().default(null).describe("What may be used in a day and in a month"),
});
export type Rules = z.infer<typeof Rules>;

/** The rules of one holder: a key, or everybody who calls through MCP. */
export interface BoundRules extends Rules {
  /** The id of a key, or `mcp`. */
  readonly holder: string;
}

/**
 * The operations that change something at once and nothing that acts later. All other operations that change
 * something are of the class `configure`.
 */
export const immediateOperations: readonly string[] = [
  "create_contact",
  "update_contact",
  "upsert_contact",
  "tag_contact",
  "tag_contacts",
  "delete_contact",
  "update_conversation",
  "assign_conversation",
  "unassign_conversation",
  "transfer_conversation",
  "send_message",
  "react_to_message",
  "add_note",
  "create_quick_reply",
  "update_quick_reply",
  "delete_quick_reply",
  "create_template",
  "create_otp_template",
  "create_cohort",
  "delete_cohort",
  "create_broadcast",
  "delete_broadcast",
  "execute_broadcast",
  "pause_broadcast",
  "cancel_broadcast",
  "cancel_flow_run",
  "upload_file",
  "delete_upload",
];

/** The operations that send a broadcast, and those that send it if they schedule it. */
export const broadcastingOperations: readonly string[] = [
  "execute_broadcast",
  "resume_broadcast",
  "retry_broadcast",
];
export const schedulingOperations: readonly string[] = ["create_broadcast", "update_broadcast"];

/** The operations that create contacts: who may not write to new persons may not create them first. */
export const contactCreatingOperations: readonly string[] = [
  "create_contact",
  "upsert_contact",
  "import_contacts",
];

/** The operations that call an address elsewhere later, and reach no person. */
export const operationsWithoutRecipients: readonly string[] = [
  "refresh_document",
  "replay_webhook_delivery",
  "recover_webhook_deliveries",
];

/**
 * The operations whose price is not known before they run: a flow decides what it sends, and an add-on
 * charges what is used.
 */
export const unpricedOperations: readonly string[] = ["trigger_flow", "subscribe_chatbot_addon"];

const ReleaseLimit = z.object({
  recipients: z.int().min(0).optional().describe("The most people that a plan reaches"),
  amount: z.number().min(0).optional().describe("The most that a plan costs, in the currency's unit"),
});

/** What the persons of a role may release; a role that is not named may release everything, as owners may. */
export const ReleaseLimits = z.object({
  admin: ReleaseLimit.optional().describe("Limits of admins"),
  supervisor: ReleaseLimit.optional().describe("Limits of supervisors"),
  agent: ReleaseLimit.optional().describe("Limits of agents"),
});

const RuleSettings = z.object({
  /** The rules of every caller through MCP; null: none. */
  mcp: Rules.nullable(),
  /** What is used of the budgets of callers through MCP; null: they have none. */
  mcp_budget_use: BudgetUse.nullable(),
  /** Whether the person who asked for a plan may not release it. */
  approver_is_never_asker: z.boolean(),
  /** What each role may release; null: no limits. */
  release_limits: ReleaseLimits.nullable(),
  /** The budgets of the organization; null: none. */
  budgets: Budgets.nullable(),
  budget_use: BudgetUse.nullable(),
});

export const rules = {
  get_rules: operation({
    method: "GET",
    path: "/v1/rules",
    scope: "tokens:read",
    tier: "extended",
    title: "Get rules",
    description:
      "Get the rules of every caller through MCP, the organization's budgets with what is used of them, and who may release plans.",
    input: z.object({}),
    output: one(RuleSettings),
  }),

  set_rules: operation({
    method: "PUT",
    path: "/v1/rules",
    credential: "person",
    scope: "tokens:create",
    tools: {},
    title: "Set rules",
    description:
      "Set the rules of every caller through MCP, and the organization's budgets. Only a signed-in person may.",
    input: z.object({
      mcp: Rules.nullable().optional().describe("Rules of every caller through MCP; null removes them"),
      approver_is_never_asker: z
        .boolean()
        .optional()
        .describe("Whether the person who asked for a plan may not release it"),
      release_limits: ReleaseLimits.nullable()
        .optional()
        .describe("What each role may release; only an owner sets it, and null removes it"),
      budgets: Budgets.nullable().optional().describe("Budgets of the organization; null removes them"),
    }),
    output: one(RuleSettings),
  }),
};

export const ruleErrors = {
  plan_required: errorEntry(
    "conflict",
    409,
    "Nothing was done: the rules of this key ask for a plan first.",
    "Plan the call with plan_call (POST /v1/plans), show the plan, and run it with run_plan (POST /v1/plans/{id}/run).",
  ),
  approval_required: errorEntry(
    "conflict",
    409,
    "Nothing was done: the rules ask for a person, because {reason}, and this call can't wait for one.",
    "Ask a signed-in person to make the call.",
  ),
  not_allowed_by_rules: errorEntry(
    "permission",
    403,
    "Nothing was done: the rules do not allow {value}.",
    "Use what the rules allow, or ask a signed-in person.",
  ),
  operation_unknown: errorEntry(
    "invalid_request",
    400,
    "No operation that a key may call is named {value}.",
    "Send names of operations, which are those of the tools.{hint}",
  ),
  release_limit_reached: errorEntry(
    "permission",
    403,
    "The role {role} may not release this plan, because {reason}.",
    "Ask an owner to release it, or to raise the limit.",
  ),
  release_limits_by_owner: errorEntry(
    "permission",
    403,
    "The role {role} can't change the limits of releases.",
    "Ask an owner of the organization.",
  ),
  budget_reached: errorEntry(
    "permission",
    403,
    "Nothing was done: it is beyond {reason}.",
    "Wait until {renews_at}, when the budget renews, or ask a signed-in person to make the call or to raise the budget.",
  ),
} as const satisfies Record<string, ErrorEntry>;
