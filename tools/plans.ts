/** Plans: what a call would do, frozen to be read before it runs, exactly once. */
import { z } from "zod";
import {
  DeletionResult,
  id,
  inputTimestamp,
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
  "preparing",
  "ready",
  "awaiting_approval",
  "released",
  "running",
  "run",
  "failed",
  "declined",
  "withdrawn",
  "expired",
  "lapsed",
] as const;

/** With more targets, a job prepares the plan in batches. */
export const maxPlanTargets = 1_000;
/** Open plans of a credential. */
export const maxOpenPlans = 100;
export const planHours = 24;
/** How long the user of a client has to confirm a call. */
export const confirmationMinutes = 60;
/** The longest call to another service that a run makes: a test of a webhook. */
const runSeconds = 30;

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
  summary: untrusted(z.string()),
  /** How many of its targets are stored; null unless it is preparing. */
  progress: z.object({ prepared: z.int(), total: z.int() }).nullable(),
  /** The input of the call, without the values of secret fields. */
  input: z.record(z.string(), z.unknown()),
  /** How many people get a message; of a preparing plan, how many of those that are stored. */
  recipient_count: z.int(),
  /** How many get none. */
  excluded_count: z.int(),
  /** Null if there is no price. Of a preparing plan, what it may cost. */
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
  /**
   * Why the plan could not be prepared, or why the call to another service failed; with `outcome_unknown`, it
   * may have taken effect.
   */
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  /** Why a person has to release it, or the user of the client has to confirm it; null: nobody has to. */
  why: z.array(z.string()).nullable(),
  /** Whether the user of an MCP client may confirm it, instead of a person who releases it. */
  confirmable: z.boolean(),
  /** Who released or declined it, and the reason that was given. */
  decided_by: RecordedActor.nullable(),
  decision_reason: z.string().nullable(),
  /** When the run of a released plan begins; null: at once. */
  run_at: timestamp.nullable(),
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

const clientCall = z
  .string()
  .min(1)
  .max(100)
  .describe("Digest of the client's call: the same in both requests");

export const plans = {
  plan_call: operation({
    method: "POST",
    path: "/v1/plans",
    scope: { any: writeScopes },
    failures: [402, 404],
    parked: false,
    title: "Plan call",
    description: `Plan a call without making it: freezes the recipients with their texts, the price and the versions of what it uses. run_plan then does exactly that, once, within ${planHours} hours. A plan with more than ${maxPlanTargets} targets, or with files at other addresses, which it downloads, is preparing before it is ready. Requires the operation's scope. Send operation with its input, or tool with its arguments as input.`,
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
          "Plan a call of another tool without making it: recipients, texts, price, warnings. Show it, then run_plan does exactly that.",
        input: z.object(callFields),
        place: { arguments: "input" },
      },
    },
    plansTool: "tool",
  }),

  run_plan: operation({
    method: "POST",
    path: "/v1/plans/{id}/run",
    scope: { any: writeScopes },
    failures: [402],
    waitSeconds: runSeconds,
    title: "Run plan",
    description:
      "Run a plan once. If the price rose or what it uses changed, nothing happens: plan_changed with the new plan.",
    input: z.object({
      id: planId,
      version: z.int().min(1).max(1_000_000).optional().describe("The new plan's, after plan_changed"),
    }),
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
    waitSeconds: runSeconds,
    title: "Approve plan",
    description:
      "Release a plan that waits for a person, and run it once, now or at run_at. Requires the operation's scope, and a person who has signed in by password within 12 hours.",
    input: z.object({
      ...decision,
      run_at: inputTimestamp
        .optional()
        .describe("When to run it, before it expires; its conditions are checked then. Default: now"),
    }),
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

  request_confirmation: operation({
    method: "POST",
    path: "/v1/plans/{id}/confirmation",
    scope: { any: writeScopes },
    tools: {},
    parked: false,
    title: "Request confirmation",
    description: `Begin the confirmation of a plan by the user of an MCP client, before the client asks. Requires the credential whose call waits, and the header X-Tidings-Tool. The state is valid for ${confirmationMinutes} minutes.`,
    input: z.object({ id: planId, call: clientCall }),
    output: one(
      z.object({
        plan: CallPlan,
        /** Is sent back with the user's answer; null if a person has to release the plan. */
        state: z.string().nullable(),
      }),
    ),
  }),

  confirm_plan: operation({
    method: "POST",
    path: "/v1/plans/{id}/confirm",
    scope: { any: writeScopes },
    tools: {},
    failures: [402],
    waitSeconds: runSeconds,
    title: "Confirm plan",
    description:
      "Store what the user of an MCP client has answered: accept runs the plan once, decline ends it, and after cancel it waits as before. It confirms what the mode confirm of rules asks for, and releases nothing that a person has to release.",
    input: z.object({
      id: planId,
      state: z.string().min(1).max(2_000).describe("State from request_confirmation"),
      call: clientCall,
      answer: z.enum(["accept", "decline", "cancel"]).describe("The user's answer"),
    }),
    output: one(
      z.object({
        plan: CallPlan,
        /** The response to the call that was confirmed; null if it did not run. */
        response: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
    // It may show a secret of the operation.
    showsSecret: true,
  }),

  wait_for_plan: operation({
    method: "GET",
    path: "/v1/plans/{id}/wait",
    scope: { any: writeScopes },
    tier: "extended",
    title: "Wait for plan",
    description:
      "Wait until a plan is released, declined, run, failed or expired, or until the timeout. The response to the call is then that of run_plan.",
    input: z.object({
      id: planId,
      timeout_seconds: z.int().min(0).max(55).default(25).describe("Seconds to wait, at most 55"),
    }),
    output: one(CallPlan.extend({ is_timed_out: z.boolean() })),
    waits: true,
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
    input: z.object({
      id: planId,
      input: callInput.describe("Fields of the operation's input, as the plan shows it"),
    }),
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
