/** Errors of plans. */
import { type ErrorEntry, errorEntry } from "./contract/index.ts";

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
  plan_preparing: errorEntry(
    "conflict",
    409,
    "The plan is being prepared: {prepared} of {total} targets are stored.",
    "Read it with get_plan (GET /v1/plans/{id}) until its status is another one, then show and run it.",
  ),
  plan_not_prepared: errorEntry(
    "conflict",
    409,
    "The plan could not be prepared, because {reason}.",
    "Plan the call again with plan_call (POST /v1/plans).",
  ),
  plan_running: errorEntry(
    "conflict",
    409,
    "The plan is running.",
    "Run it again after the time in Retry-After to get its response.",
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
    "This person asked for the plan, and approver_is_never_asker requires that another person releases it.",
    "Ask another person who holds the scope of the operation.",
  ),
  confirmation_invalid: errorEntry(
    "permission",
    403,
    "The confirmation is not valid: {reason}.",
    "Make the call again, and the client asks its user again. Or ask a signed-in person to release the plan.",
  ),
  run_at_invalid: errorEntry(
    "business_rule",
    422,
    "run_at is not between now and {expires_at}, when the plan expires.",
    "Send an earlier time, or none to run the plan now.",
  ),
  releaser_left: errorEntry(
    "permission",
    403,
    "The plan did not run at its time, because the person who released it is no longer active.",
    "Ask another person to release it.",
  ),
  plan_changed: errorEntry(
    "conflict",
    409,
    "The plan did not run, because {reason}. `plan` is the new plan.",
    "Show the new plan, then run it with run_plan (POST /v1/plans/{id}/run) and its version, or release it with its new hash.",
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
    "Plan an operation that changes data or sends messages, without a file.",
  ),
  plan_too_large: errorEntry(
    "business_rule",
    422,
    "The call has more than {limit} targets, and a plan of this operation has at most {limit}.",
    "Ask a person who is bound by no rules to make the call.",
  ),
  too_many_plans: errorEntry(
    "business_rule",
    422,
    "This credential has {limit} open plans, which is the limit.",
    "Run or withdraw a plan first.",
  ),
} as const satisfies Record<string, ErrorEntry>;
