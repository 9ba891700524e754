/** The errors of messages. */
import { type ErrorEntry, errorEntry } from "../contract/index.ts";
import { viewMediaErrors } from "./view-media.ts";

export const messageErrors = {
  ...viewMediaErrors,
  message_not_found: errorEntry(
    "not_found",
    404,
    "There is no message with this id in this conversation.",
    "Find the id with list_messages (GET /v1/messages).",
  ),
  message_not_quotable: errorEntry(
    "business_rule",
    422,
    "The channel does not have this message, so it can't be quoted.",
    "Quote a message that was received, or sent and not only queued, or omit reply_to.",
  ),
  message_not_reactable: errorEntry(
    "business_rule",
    422,
    "The channel does not have this message, so you can't react to it.",
    "React to a message that was received, or sent and not only queued.",
  ),
  reaction_rejected: errorEntry(
    "business_rule",
    422,
    "The channel rejects the reaction: {reason}",
    "React with a single emoji to a message of the last 30 days that was not deleted, or answer with send_message (POST /v1/messages).",
  ),
  outside_service_window: errorEntry(
    "business_rule",
    422,
    "The 24-hour service window is closed: the contact has not written in the last 24 hours.",
    "Send an approved template with send_template_message (POST /v1/messages with type template), or wait until the contact writes again.",
  ),
  template_not_approved: errorEntry(
    "business_rule",
    422,
    "There is no approved template named {name} in the language {language}: {reason}",
    "Find the approved ones with list_templates (GET /v1/templates?status=approved).",
  ),
  template_values_mismatch: errorEntry(
    "business_rule",
    422,
    "The values do not fit the template {name}: {reason}",
    "Send exactly these variables: {expected}. Their places are in get_template (GET /v1/templates/{id}).",
  ),
  contact_opted_out: errorEntry(
    "business_rule",
    422,
    "The contact opted out of marketing, and this template is marketing.",
    "Send a utility template. Set opted_out to false with update_contact (PUT /v1/contacts/{id}) only if the contact asks for it.",
  ),
  media_not_sendable: errorEntry(
    "business_rule",
    422,
    "This upload can't be sent as {media_type}: {reason}",
    "As {media_type} the channel accepts {known} of up to {limit} bytes.",
  ),
  content_not_supported: errorEntry(
    "business_rule",
    422,
    "The channel of this inbox can't send {content}.",
    "Send a text, or use an inbox of another channel (GET /v1/inboxes).",
  ),
  invalid_cursor: errorEntry(
    "invalid_request",
    400,
    "{value} is {reason}.",
    "Send the cursor of the previous response, or omit it to start now.",
  ),
} as const satisfies Record<string, ErrorEntry>;
