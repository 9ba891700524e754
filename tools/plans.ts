/** Plans: what a call would do, frozen to be read before it runs, exactly once. */
import { z } from "zod";
import {
  DeletionResult,
  type ErrorEntry,
  errorEntry,
  id,
  one,
  openObject,
  operation,
  paged,
  paging,
  RecordedActor,
  timestamp,
  untrusted,
  writeScopes,
  yes,
} from "./contract/index.ts";

export const planStatuses = [
  "ready",
  "awaiting_approval",
  "run",
  "declined",
  "withdrawn",
  "expired",
  "lapsed",
] as const;

/** More targets would not be frozen at one moment by one request. */
export const maxPlanTargets = 1_000;
/** Open plans of a credential. */
export const maxOpenPlans = 100;
export const planHours = 24;

const maxFields = 100;
const callInput = openObject(
  (value) => Object.keys(Object(value)).length <= maxFields,
  `At most ${maxFields} fields.`,
);

const PlanTarget = z.object({
  contact_id: z.string().nullable(),
  to: z.string().nullable(),
  name: untrusted(z.string()).nullable(),
  /** What the person would read. */
  text: untrusted(z.string()),
  /** Why the person gets no message; null if the person gets one. */
  excluded: z.string().nullable(),
  /** Whether it has a value that is rare among the plan's targets. */
  is_unusual: z.boolean(),
});

const CallPlan = z.object({
  id: z.string(),
  /** Raised by each change of what the plan would do. */
  version: z.int(),
  operation: z.string(),
  status: z.enum(planStatuses),
  summary: z.string(),
  /** The input of the call, without the values of secret fields. */
  input: z.record(z.string(), z.unknown()),
  /** How many persons get a message. */
  recipient_count: z.int(),
  /** How many get none. */
  excluded_count: z.int(),
  /** Null if there is no price. */
  price: z.object({ amount: z.number(), currency: z.string() }).nullable(),
  warnings: z.array(z.string()),
  /** Whether the effect can be undone. */
  is_undoable: z.boolean(),
  /** The first three targets. */
  samples: z.array(PlanTarget),
  /** Identifies what the plan would do. */
  hash: z.string(),
  created_by: RecordedActor,
  created_at: timestamp,
  expires_at: timestamp,
  ended_at: timestamp.nullable(),
  /** Why a person has to release it; null: nobody has to. */
  why: z.array(z.string()).nullable(),
  /** Who released or declined it, and the reason that was given. */
  decided_by: RecordedActor.nullable(),
  decision_reason: z.string().nullable(),
});

const planId = id("Plan", "list_plans");
const callFields = {
  tool: z.string().min(1).max(128).describe("Name of a tool that changes something or sends"),
  arguments: callInput.describe("Its arguments"),
};

const decision = {
  id: planId,
  hash: z.string().min(1).max(100).describe("Hash of the plan as it was shown"),
  reason: z.string().max(1_000).optional().describe("Reason, which is stored"),
};

export const plans = {
  plan_call: operation({
    method: "POST",
    path: "/v1/plans",
    scope: { any: writeScopes },
    failures: [402, 404],
    parked: false,
    title: "Plan call",
    description: `Plan a call without making it: freezes the recipients with their texts, the price and the versions of what it uses. run_plan then does exactly that, once, within ${planHours} hours. Requires the operation's scope. Send operation with its input, or tool with its arguments as input.`,
    input: z
      .object({
        operation: z.string().min(1).max(128).optional().describe("Name of an operation"),
        tool: callFields.tool.optional(),
        input: callInput.default({}).describe("Input of the operation, or arguments of the tool"),
      })
      .superRefine(({ operation, tool }, context) => {
        if ((operation === undefined) === (tool === undefined)) {
          const message = "Send either operation or tool.";
          context.addIssue({ code: "custom", path: ["operation"], message });
        }
      }),
    output: one(CallPlan),
    status: 201,
    tools: {
      plan_call: {
        title: "Plan call",
        description:
          "Show what a call of another tool would do, without making it: recipients, texts, price, warnings. Show it to the user, then run_plan does exactly that.",
        input: z.object(callFields),
        place: { arguments: "input" },
      },
    },
  }),

  run_plan: operation({
    method: "POST",
    path: "/v1/plans/{id}/run",
    scope: { any: writeScopes },
    failures: [402],
    title: "Run plan",
    description:
      "Run a plan once. It checks again what the operation checks; if the price rose or something that it uses changed, it does nothing and returns plan_changed with the new plan.",
    input: z.object({ id: planId }),
    output: one(
      z.object({
        plan: CallPlan,
        /** The response of the operation. */
        result: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
    hints: {
      destructive: yes("What the plan does may not be undone."),
      openWorld: yes("The plan may send messages."),
    },
    // It may show a secret of the operation.
    showsSecret: true,
  }),

  approve_plan: operation({
    method: "POST",
    path: "/v1/plans/{id}/approve",
    credential: "person",
    scope: { any: writeScopes },
    tools: {},
    failures: [402],
    title: "Approve plan",
    description:
      "Release a plan that waits for a person, and run it once. Requires the operation's scope, and a person who has signed in by password within 12 hours.",
    input: z.object(decision),
    output: one(z.object({ plan: CallPlan, result: z.record(z.string(), z.unknown()).nullable() })),
    // It may show a secret of the operation.
    showsSecret: true,
  }),

  decline_plan: operation({
    method: "POST",
    path: "/v1/plans/{id}/decline",
    credential: "person",
    scope: { any: writeScopes },
    tools: {},
    title: "Decline plan",
    description:
      "Decline a plan that waits for a person: it never runs. Requires what approve_plan requires.",
    input: z.object(decision),
    output: one(CallPlan),
  }),

  list_plans: operation({
    method: "GET",
    path: "/v1/plans",
    scope: { any: writeScopes },
    tier: "extended",
    title: "List plans",
    description: "List the plans of the operations that the caller may call, newest first.",
    input: z.object({
      status: z.enum(planStatuses).optional().describe("Only this status"),
      ...paging(25),
    }),
    output: paged(CallPlan),
  }),

  get_plan: operation({
    method: "GET",
    path: "/v1/plans/{id}",
    scope: { any: writeScopes },
    tier: "extended",
    title: "Get plan",
    description:
      "Get a plan with its targets: first those with unusual values, then the others, a page at a time.",
    input: z.object({
      id: planId,
      search: z.string().max(255).optional().describe("Part of a target's name, number or text"),
      ...paging(25),
    }),
    output: z.object({
      data: CallPlan.extend({ targets: z.array(PlanTarget) }),
      meta: z.object({
        page: z.int(),
        per_page: z.int(),
        total: z.int(),
        total_is_estimate: z.literal(true).optional(),
      }),
    }),
  }),

  amend_plan: operation({
    method: "PUT",
    path: "/v1/plans/{id}",
    scope: { any: writeScopes },
    failures: [402],
    tier: "extended",
    parked: false,
    title: "Amend plan",
    description:
      "Plan the call again with another input, as a new version with a new hash. The fields that are sent replace those of the plan's input.",
    input: z.object({ id: planId, input: callInput.describe("Fields of the operation's input") }),
    output: one(CallPlan),
  }),

  withdraw_plan: operation({
    method: "DELETE",
    path: "/v1/plans/{id}",
    scope: { any: writeScopes },
    tier: "extended",
    parked: false,
    title: "Withdraw plan",
    description: "Withdraw a plan, which then can't run any more.",
    input: z.object({ id: planId }),
    output: one(DeletionResult),
  }),
};

export const planErrors = {
  plan_not_found: errorEntry(
    "not_found",
    404,
    "There is no plan with this id.",
    "Find the id with list_plans (GET /v1/plans).",
  ),
  plan_state: errorEntry(
    "conflict",
    409,
    "The plan is {current_state}, so it can't be {action}.",
    "Plan the call again with plan_call (POST /v1/plans).",
  ),
  sign_in_again: errorEntry(
    "permission",
    403,
    "A plan is released by a person who has signed in by password within 12 hours.",
    "Sign in with POST /v1/auth/login, and send the request with the new access_token.",
  ),
  asker_may_not_release: errorEntry(
    "permission",
    403,
    "This person asked for the plan, and the organization lets another person release it.",
    "Ask another person who holds the scope of the operation.",
  ),
  plan_changed: errorEntry(
    "conflict",
    409,
    "The plan did not run, because {reason}. `plan` is the new plan.",
    "Show the new plan, then run it with run_plan (POST /v1/plans/{id}/run).",
  ),
  plan_lapsed: errorEntry(
    "conflict",
    409,
    "The plan did not run, because the conversation went on: the contact wrote, or somebody answered.",
    "Read the conversation, and plan a new answer with plan_call (POST /v1/plans).",
  ),
  operation_not_planned: errorEntry(
    "business_rule",
    422,
    "{value} can't be planned.",
    "Plan an operation that changes data or sends messages, without a file and without another service.",
  ),
  plan_too_large: errorEntry(
    "business_rule",
    422,
    "The call has more than {limit} targets, and a plan has at most {limit}.",
    "Use a smaller cohort.",
  ),
  plan_needs_upload: errorEntry(
    "business_rule",
    422,
    "A file at another address may change before the plan runs.",
    "Upload the file with upload_file (POST /v1/uploads), and plan with the address of the upload.",
  ),
  too_many_plans: errorEntry(
    "business_rule",
    422,
    "This credential has {limit} open plans, which is the limit.",
    "Run or withdraw a plan first.",
  ),
} as const satisfies Record<string, ErrorEntry>;

/** Events of plans that wait for a person. */
export const planEvents = {
  "plan.awaiting": { scope: "inbox:read", data: z.object({ plan_id: z.string(), operation: z.string() }) },
  "plan.released": { scope: "inbox:read", data: z.object({ plan_id: z.string(), operation: z.string() }) },
  "plan.declined": { scope: "inbox:read", data: z.object({ plan_id: z.string(), operation: z.string() }) },
} as const;
