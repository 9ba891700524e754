/** Requests that can't be read or are not valid: correct them and send them again. */
import { type Entry, entry } from "./entry.ts";

export const requestErrors = {
  invalid_request: entry(
    "invalid_request",
    400,
    "The request is not valid: {reason}",
    "Correct the fields that are named and send it again.",
  ),
  malformed_body: entry(
    "invalid_request",
    400,
    "The request body could not be read: {reason}",
    "Send one JSON object, encoded as UTF-8.",
  ),
  malformed_request: entry(
    "invalid_request",
    400,
    "The request could not be read as HTTP.",
    "Check the address, the headers and their size.",
  ),
  invalid_phone_number: entry(
    "invalid_request",
    400,
    "{value} is not a valid phone number.",
    "Send it in E.164 form with the country code, for example +14155550123.",
  ),
  unstorable_text: entry(
    "invalid_request",
    400,
    "The text holds a zero byte or half of a surrogate pair, which is no character.",
    "Send well-formed Unicode text.",
  ),
  nested_too_deeply: entry(
    "invalid_request",
    400,
    "The value is nested more than {limit} levels deep.",
    "Send a flatter object.",
  ),
  invalid_scope: entry(
    "invalid_request",
    400,
    "Unknown scope: {value}.",
    "Use only scopes from this list: {known}.",
  ),
  scope_needs_sign_in: entry(
    "invalid_request",
    400,
    "{value} can't be granted here.",
    "Account scopes are granted by an owner or admin who is signed in, with POST /v1/developer-access/api-keys.",
  ),
  expiry_not_in_future: entry(
    "invalid_request",
    400,
    "expires_at must be in the future.",
    "Send a later time, or leave expires_at out for a key that does not expire.",
  ),
  snooze_not_in_future: entry(
    "invalid_request",
    400,
    "snoozed_until must be in the future.",
    "Send a later time, or leave it out to snooze until the contact writes.",
  ),
  invalid_cursor: entry(
    "invalid_request",
    400,
    "{value} is neither a cursor of this service nor the id of a message.",
    "Send the cursor of the last answer, or leave it out to begin now.",
  ),
  needs_user: entry(
    "invalid_request",
    400,
    "{value} needs a person: this credential is an API key, which is nobody.",
    "Sign in as a user, or use another filter.",
  ),
  webhook_address_refused: entry(
    "invalid_request",
    400,
    "Nothing can be sent to this address. {reason}",
    "Send an https:// address of the public internet, on port 443 or 8443.",
  ),
  since_too_early: entry(
    "invalid_request",
    400,
    "since is more than {limit} days ago.",
    "Send a time within the last {limit} days.",
  ),
  unknown_argument: entry("invalid_request", 400, "Unknown argument: {value}.", "Known arguments: {known}."),
  invalid_idempotency_key: entry(
    "invalid_request",
    400,
    "Idempotency-Key must be 1 to 255 characters.",
    "Send a shorter key, for example a UUID.",
  ),
  method_not_allowed: entry(
    "invalid_request",
    405,
    "{path} does not answer {method}.",
    "Use one of: {allowed}.",
  ),
  body_too_large: entry(
    "invalid_request",
    413,
    "The request body is larger than {limit} bytes.",
    "Send less in one request.",
  ),
  unsupported_media_type: entry(
    "invalid_request",
    415,
    "The request body's Content-Type is not supported here.",
    "Send Content-Type: application/json.",
  ),
} as const satisfies Record<string, Entry>;
