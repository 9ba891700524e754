/** Rules: which calls of a key, or of an assistant through MCP, need a plan or a person first. */
import { z } from "zod";
import { type ErrorEntry, errorEntry, one, operation } from "./contract/index.ts";

/** auto: calls run. plan: a call needs a plan, which is then run. approve: a person releases it first. */
export const ruleModes = ["auto", "plan", "approve"] as const;

const limited = (what: string) => z.array(z.string().min(1).max(255)).min(1).max(100).describe(what);

/** What a person has to release, in each mode. */
const Conditions = z.object({
  recipients_above: z.int().min(0).optional().describe("More persons than this"),
  amount_above: z.number().min(0).optional().describe("A price above this, in the currency's unit"),
  new_contacts: z.boolean().optional().describe("New contacts, and messages to persons who are none"),
  delete: z.boolean().optional().describe("Deleting"),
  configure: z.boolean().optional().describe("Whatever acts later: flows, the bot, webhooks, inboxes, keys"),
  outside_hours: z.boolean().optional().describe("Whatever is called outside the business hours"),
});

/** What messages are allowed. Everything else is refused. */
const Allowed = z.object({
  inboxes: limited("Ids of inboxes").optional(),
  templates: limited("Names of templates; other messages are refused").optional(),
  cohorts: limited("Ids of cohorts; messages that go to no cohort are refused").optional(),
  countries: limited("Countries of phone numbers, like ES").optional(),
});

export const Rules = z.object({
  mode: z.enum(ruleModes).default("auto").describe("auto, plan or approve"),
  approve: Conditions.default({}).describe("What a person has to release, in each mode"),
  allow: Allowed.default({}).describe("What messages are allowed"),
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
  "add_note",
  "create_quick_reply",
  "update_quick_reply",
  "delete_quick_reply",
  "create_template",
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

/** The operations that create contacts: who may not write to new persons may not create them first. */
export const contactCreatingOperations: readonly string[] = [
  "create_contact",
  "upsert_contact",
  "import_contacts",
];

const RuleSettings = z.object({
  /** The rules of every caller through MCP; null: none. */
  mcp: Rules.nullable(),
  /** Whether the person who asked for a plan may not release it. */
  approver_is_never_asker: z.boolean(),
});

export const rules = {
  get_rules: operation({
    method: "GET",
    path: "/v1/rules",
    scope: "tokens:read",
    tier: "extended",
    title: "Get rules",
    description: "Get the rules of every caller through MCP, and who may release plans.",
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
    description: "Set the rules of every caller through MCP. Only a signed-in person may.",
    input: z.object({
      mcp: Rules.nullable().optional().describe("Rules of every caller through MCP; null removes them"),
      approver_is_never_asker: z
        .boolean()
        .optional()
        .describe("Whether the person who asked for a plan may not release it"),
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
} as const satisfies Record<string, ErrorEntry>;
