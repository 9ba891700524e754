/** The errors that any operation can return; a resource's own errors are in its file. */
import { type ErrorEntry, errorEntry } from "./entry.ts";

/** Errors of the request itself. */
export const requestErrors = {
  invalid_request: errorEntry(
    "invalid_request",
    400,
    "The request is not valid: {reason}",
    "Correct the named fields and send it again.",
  ),
  malformed_request: errorEntry(
    "invalid_request",
    400,
    "The request could not be read as HTTP.",
    "Check the address, the headers and their size.",
  ),
  request_too_slow: errorEntry(
    "invalid_request",
    408,
    "The request did not arrive in time.",
    "Send it again over a faster connection, or send less in one request.",
  ),
  headers_too_large: errorEntry(
    "invalid_request",
    431,
    "The address and the headers are too large together.",
    "Send a shorter address, or fewer and shorter headers.",
  ),
  malformed_body: errorEntry(
    "invalid_request",
    400,
    "The request body could not be read: {reason}",
    "Send one JSON object, encoded as UTF-8.",
  ),
  body_too_large: errorEntry(
    "invalid_request",
    413,
    "The request body is larger than {limit} bytes.",
    "Send less in one request.",
  ),
  unsupported_media_type: errorEntry(
    "invalid_request",
    415,
    "This Content-Type is not supported here.",
    "Send Content-Type: application/json.",
  ),
  method_not_allowed: errorEntry(
    "invalid_request",
    405,
    "{path} does not support {method}.",
    "Use one of: {allowed}.",
  ),
  route_not_found: errorEntry(
    "not_found",
    404,
    "There is no route {method} {path}.",
    "GET /v1/openapi.json lists every operation.",
  ),
  unknown_argument: errorEntry(
    "invalid_request",
    400,
    "Unknown argument: {value}.",
    "Known arguments: {known}.",
  ),
  unstorable_text: errorEntry(
    "invalid_request",
    400,
    "The text contains a null character or an unpaired surrogate.",
    "Send well-formed Unicode text.",
  ),
  nested_too_deeply: errorEntry(
    "invalid_request",
    400,
    "The value is nested deeper than {limit} levels.",
    "Send a flatter object.",
  ),
  invalid_phone_number: errorEntry(
    "invalid_request",
    400,
    "{value} is not a valid phone number. {reason}",
    "Write it with + and the country code, for example +14155550123. To send national numbers, first set default_country with update_organization (PUT /v1/organization).",
  ),
  invalid_idempotency_key: errorEntry(
    "invalid_request",
    400,
    "Idempotency-Key must be 1 to 255 characters.",
    "Send 1 to 255 characters, for example a UUID.",
  ),
  idempotency_key_reused: errorEntry(
    "idempotency",
    422,
    "This idempotency key was already used with a different request.",
    "Use a new key for a new request, or repeat the first request unchanged.",
  ),
  request_in_progress: errorEntry(
    "idempotency",
    409,
    "A request with this idempotency key is still running.",
    "Repeat it unchanged after the time in Retry-After to get its response.",
  ),
  outcome_unknown: errorEntry(
    "idempotency",
    409,
    "The service was interrupted while it called another server, so it is not known whether the call took effect.",
    "Check the result. To call again, use a new idempotency key.",
  ),
} as const satisfies Record<string, ErrorEntry>;

/** Credentials, scopes and roles. */
export const accessErrors = {
  credential_missing: errorEntry(
    "authentication",
    401,
    "No credential was sent.",
    "Send an API key in the X-API-Key header, or Authorization: Bearer with a key or an access token.",
  ),
  credential_malformed: errorEntry(
    "authentication",
    401,
    "The header {header} does not have the form of a credential.",
    "Send X-API-Key: <key>, or Authorization: Bearer <key or access token>.",
  ),
  credential_invalid: errorEntry(
    "authentication",
    401,
    "The credential is unknown, revoked or expired.",
    "Use another API key, or sign in again.",
  ),
  sign_in_required: errorEntry(
    "authentication",
    401,
    "This operation requires a user's access token, not an API key.",
    "Sign in with POST /v1/auth/login and send its access_token as Authorization: Bearer.",
  ),
  insufficient_scope: errorEntry(
    "permission",
    403,
    "The credential does not hold the required scope: {required_scope}.",
    "Use a key that holds {required_scope}.",
  ),
  person_required: errorEntry(
    "permission",
    403,
    "Only a signed-in person may do this, never an API key.",
    "Ask an owner or admin to sign in with POST /v1/auth/login and to call it with the access_token.",
  ),
  insufficient_role: errorEntry(
    "permission",
    403,
    "The role {role} does not permit this.",
    "Ask an owner or admin of the organization.",
  ),
  needs_user: errorEntry(
    "invalid_request",
    400,
    "{value} requires a signed-in user; API keys have none.",
    "Sign in as a user, or use another filter.",
  ),
  host_not_allowed: errorEntry(
    "permission",
    403,
    "The {header} header names a host that this server does not accept.",
    "Use one of the server's own host names, or add the host to {setting}.",
  ),
  foreign_page: errorEntry(
    "permission",
    403,
    "Only pages of this service may send this request.",
    "Open the console at the service's own address. Behind a proxy, set TIDINGS_PUBLIC_URL to the address that the browser shows.",
  ),
} as const satisfies Record<string, ErrorEntry>;

/** Rate limits and failures of the service. */
export const serviceErrors = {
  rate_limited: errorEntry("rate_limit", 429, "Too many requests.", "Wait {retry_after} s and try again."),
  internal: errorEntry(
    "internal",
    500,
    "The service failed to process the request.",
    "Try again. If it fails again, report the request id.",
  ),
  quota_exceeded: errorEntry(
    "business_rule",
    422,
    "The organization has reached its limit of {limit} {thing}.",
    "Delete what is no longer needed, or ask the operator of the service to raise {setting}.",
  ),
  query_too_slow: errorEntry(
    "business_rule",
    422,
    "The search took too long and was stopped.",
    "Search for a longer or a rarer word, or use conditions that select fewer contacts.",
  ),
  unavailable: errorEntry(
    "internal",
    503,
    "The service is temporarily unavailable: {reason}",
    "Try again in a moment.",
  ),
  database_damaged: errorEntry(
    "internal",
    503,
    "A part of the database can't be read, so the service writes nothing any more. Reads of other parts work.",
    "The operator finds the damage with tidings doctor --deep, and restores a backup as docs/backup.md says.",
  ),
} as const satisfies Record<string, ErrorEntry>;
