/** The errors of broadcasts. */
import { type ErrorEntry, errorEntry } from "../contract/index.ts";

export const broadcastErrors = {
  broadcast_not_found: errorEntry(
    "not_found",
    404,
    "There is no broadcast with this id.",
    "Find the id with list_broadcasts (GET /v1/broadcasts).",
  ),
  broadcast_state: errorEntry(
    "conflict",
    409,
    "A {current_state} broadcast can't be {action}.",
    "Only a broadcast of status {allowed} can be {action}. get_broadcast (GET /v1/broadcasts/{id}) shows the status.",
  ),
  broadcast_outdated: errorEntry(
    "conflict",
    409,
    "The template {name} can't be sent now, or was changed after the broadcast began.",
    "get_template (GET /v1/templates/{id}) shows the template. If it was changed, create a new broadcast.",
  ),
  variables_unmapped: errorEntry(
    "business_rule",
    422,
    "variable_mapping does not fit the template {name}: {reason}",
    "Map exactly these variables: {expected}. Their places are in get_template (GET /v1/templates/{id}).",
  ),
  schedule_invalid: errorEntry(
    "invalid_request",
    400,
    "scheduled_at is {reason}.",
    "Send a time in the future, at most 30 days from now. To send at once, leave it out and call execute_broadcast.",
  ),
  scheduled_at_required: errorEntry(
    "invalid_request",
    400,
    "The broadcast is scheduled, and the rules count a change of it as scheduling: scheduled_at is missing.",
    "Send scheduled_at too: {scheduled_at}, which is its present time, another time, or null (in a tool, an empty text) to make it a draft.",
  ),
  cohort_not_ready: errorEntry(
    "conflict",
    409,
    "The cohort's file has not been read to its end.",
    "Wait until get_cohort (GET /v1/cohorts/{id}) shows the status ready.",
  ),
} as const satisfies Record<string, ErrorEntry>;
