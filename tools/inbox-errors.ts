/** The errors of inboxes and their channels. */
import { type ErrorEntry, errorEntry } from "./contract/index.ts";

export const inboxErrors = {
  webhook_not_signed: errorEntry(
    "invalid_request",
    400,
    "The request is not signed with the app secret of an inbox with this address.",
    "Check the app secret of the inbox's credentials, and the address in the app's dashboard.",
  ),
  webhook_not_verified: errorEntry(
    "permission",
    403,
    "The verify token is wrong, or no inbox has this address.",
    "Enter the callback_url and the verify token of the inbox in the app's dashboard.",
  ),
  inbox_exists: errorEntry(
    "conflict",
    409,
    "An inbox with this phone number already exists.",
    "Use the inbox in existing_id, or another number.",
  ),
  inbox_not_found: errorEntry(
    "not_found",
    404,
    "There is no inbox with this id.",
    "Find the id with list_inboxes (GET /v1/inboxes).",
  ),
  credentials_rejected: errorEntry(
    "business_rule",
    422,
    "The channel does not accept these credentials: {reason}",
    "Compare them with the dashboard of the channel's provider, correct the field in param, and send them again.",
  ),
  credentials_not_used: errorEntry(
    "business_rule",
    422,
    "An inbox of this channel has no credentials.",
    "Create an inbox with the channel whatsapp (POST /v1/inboxes).",
  ),
  inbox_not_connectable: errorEntry(
    "business_rule",
    422,
    "An inbox of this channel has no account to connect.",
    "Use an inbox of the channel whatsapp.",
  ),
  channel_in_sandbox: errorEntry(
    "conflict",
    409,
    "The clock of this service can be moved, so it has simulated channels alone.",
    "Leave out channel, or use a service without TIDINGS_SANDBOX_CLOCK.",
  ),
  read_marks_not_supported: errorEntry(
    "invalid_request",
    400,
    "The channel of this inbox has no read marks of the kind {value}.",
    "Leave out settings.read_marks, or set it to off.",
  ),
  channel_unreachable: errorEntry(
    "channel",
    503,
    "The channel's provider does not respond or is busy.",
    "Try again in a minute.",
  ),
  address_not_supported: errorEntry(
    "business_rule",
    422,
    "The inbox's channel has no addresses like {value}.",
    "Send an address of the kind that the channel has, or name another inbox in inbox_id.",
  ),
  no_inbox: errorEntry(
    "business_rule",
    422,
    "The organization has no inbox to send from.",
    "Create an inbox first (POST /v1/inboxes).",
  ),
} as const satisfies Record<string, ErrorEntry>;
