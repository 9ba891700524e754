/** The errors of flows. */
import { type ErrorEntry, errorEntry } from "../contract/index.ts";

export const flowErrors = {
  flow_not_found: errorEntry(
    "not_found",
    404,
    "There is no flow with this id.",
    "Find the id with list_flows (GET /v1/automation/flows).",
  ),
  flow_run_not_found: errorEntry(
    "not_found",
    404,
    "There is no run of a flow with this id.",
    "Find the id with list_flow_runs (GET /v1/automation/runs). Ended runs are kept for 90 days.",
  ),
  flow_invalid: errorEntry(
    "invalid_request",
    400,
    "The flow is not valid. {reason}",
    "Correct every field of details, and send the request again. Nothing was saved.",
  ),
  choice_not_sent: errorEntry(
    "invalid_request",
    400,
    "The flow has not sent a button or row {value} by then. It has sent: {known}.",
    "Send the id or the title of one that it sends before this entry of the script.",
  ),
  flow_disabled: errorEntry(
    "conflict",
    409,
    "The flow is disabled.",
    "Enable it with toggle_flow (PATCH /v1/automation/flows/{id}/toggle).",
  ),
  flow_run_active: errorEntry(
    "conflict",
    409,
    "A flow that waits for replies is active in this conversation: the run {run_id}.",
    "Wait for its end, or cancel it with cancel_flow_run (POST /v1/automation/runs/{id}/cancel).",
  ),
  flow_run_ended: errorEntry(
    "conflict",
    409,
    "The run has ended: it is {current_state}.",
    "Nothing is to be done. get_flow_run (GET /v1/automation/runs/{id}) shows its path.",
  ),
  flow_not_startable: errorEntry(
    "business_rule",
    422,
    "The flow can't start in this conversation: {reason}",
    "Choose another conversation or another flow.",
  ),
  flow_message_invalid: errorEntry(
    "business_rule",
    422,
    "With its placeholders filled in, the message is blank or too long.",
    "Give the placeholders defaults, or shorten the text.",
  ),
  flow_note_invalid: errorEntry(
    "business_rule",
    422,
    "With its placeholders filled in, the note is blank or too long.",
    "Give the placeholders defaults, or shorten the text.",
  ),
  contact_unreachable: errorEntry(
    "business_rule",
    422,
    "The contact has no address on the channel of this inbox.",
    "Wait until the contact writes.",
  ),
  attributes_too_large: errorEntry(
    "business_rule",
    422,
    "The contact's attributes would be too large.",
    "Remove attributes of the contact with update_contact (PUT /v1/contacts/{id}).",
  ),
} as const satisfies Record<string, ErrorEntry>;
