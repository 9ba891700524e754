/** Every way to fail: code, status, the sentence that is sent, and what to do next. */
import { z } from "zod";

export const errorTypes = [
  "invalid_request",
  "authentication",
  "permission",
  "not_found",
  "conflict",
  "business_rule",
  "payment_required",
  "rate_limit",
  "idempotency",
  "channel",
  "internal",
] as const;

type ErrorType = (typeof errorTypes)[number];

interface Entry {
  readonly type: ErrorType;
  readonly status: number;
  /** What is wrong; `{name}` is filled from the failure's detail. */
  readonly message: string;
  /** What to do next, for a person or a model. */
  readonly fix: string;
}

const entry = (type: ErrorType, status: number, message: string, fix: string): Entry => ({
  type,
  status,
  message,
  fix,
});

export const errors = {
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
  needs_user: entry(
    "invalid_request",
    400,
    "{value} needs a person: this credential is an API key, which is nobody.",
    "Sign in as a user, or use another filter.",
  ),
  no_inbox: entry(
    "business_rule",
    422,
    "The organization has no inbox to send from.",
    "Connect an inbox first.",
  ),
  unknown_argument: entry("invalid_request", 400, "Unknown argument: {value}.", "Known arguments: {known}."),
  invalid_idempotency_key: entry(
    "invalid_request",
    400,
    "Idempotency-Key must be 1 to 255 characters.",
    "Send a shorter key, for example a UUID.",
  ),
  credential_missing: entry(
    "authentication",
    401,
    "No credential was sent.",
    "Send an API key in the X-API-Key header, or Authorization: Bearer with a key or an access token.",
  ),
  credential_invalid: entry(
    "authentication",
    401,
    "The credential is unknown, revoked or expired.",
    "Use another API key, or sign in again.",
  ),
  sign_in_required: entry(
    "authentication",
    401,
    "This operation needs a person's access token, not an API key.",
    "Sign in with POST /v1/auth/login and send its access_token as Authorization: Bearer.",
  ),
  login_failed: entry(
    "authentication",
    401,
    "The e-mail address or the password is wrong.",
    "Check both and try again.",
  ),
  refresh_token_invalid: entry(
    "authentication",
    401,
    "The refresh token is unknown or expired.",
    "Sign in again with POST /v1/auth/login.",
  ),
  refresh_token_reused: entry(
    "authentication",
    401,
    "The refresh token was used before; every token of that sign-in has been revoked.",
    "Sign in again with POST /v1/auth/login.",
  ),
  insufficient_scope: entry(
    "permission",
    403,
    "This needs a scope that the credential lacks: {required_scope}.",
    "Use a key that holds {required_scope}.",
  ),
  insufficient_role: entry(
    "permission",
    403,
    "Your role {role} may not do this.",
    "Ask an owner or admin of the organization.",
  ),
  scope_not_held: entry(
    "permission",
    403,
    "A credential can only grant scopes that it holds itself; it lacks {value}.",
    "Leave that scope out, or use a credential that holds it.",
  ),
  host_not_allowed: entry(
    "permission",
    403,
    "The {header} header names a host that this server does not answer for.",
    "Call it by one of its own names, or add the name to {setting}.",
  ),
  route_not_found: entry(
    "not_found",
    404,
    "There is nothing at {method} {path}.",
    "GET /v1/openapi.json lists every operation.",
  ),
  contact_not_found: entry(
    "not_found",
    404,
    "There is no contact with this id.",
    "Find the id with list_contacts (GET /v1/contacts).",
  ),
  conversation_not_found: entry(
    "not_found",
    404,
    "There is no conversation with this id.",
    "Find the id with list_conversations (GET /v1/conversations).",
  ),
  message_not_found: entry(
    "not_found",
    404,
    "There is no message with this id in this conversation.",
    "Find the id with list_messages (GET /v1/messages).",
  ),
  api_key_not_found: entry(
    "not_found",
    404,
    "There is no API key with this id.",
    "Find the id with list_api_keys (GET /v1/api-keys).",
  ),
  tool_not_found: entry(
    "not_found",
    404,
    "There is no tool named {value}.",
    "GET /v1/mcp/tools lists the tools that this credential may call.",
  ),
  method_not_allowed: entry(
    "invalid_request",
    405,
    "{path} does not answer {method}.",
    "Use one of: {allowed}.",
  ),
  contact_exists: entry(
    "conflict",
    409,
    "A contact with this phone number exists already.",
    "Use the contact in existing_id, or upsert_contact (PUT /v1/contacts) to find or create in one call.",
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
  outside_service_window: entry(
    "business_rule",
    422,
    "The 24-hour service window is closed: the contact has not written in the last 24 hours.",
    "Wait until the contact writes again.",
  ),
  template_not_approved: entry(
    "business_rule",
    422,
    "There is no approved template named {name} in the language {language}.",
    "Send an approved template, by its name and language (GET /v1/templates?status=approved).",
  ),
  idempotency_key_reused: entry(
    "idempotency",
    422,
    "This idempotency key was used before with another request.",
    "Use a new key for a new request; repeat a request only with the same content.",
  ),
  rate_limited: entry("rate_limit", 429, "Too many requests.", "Wait {retry_after} s and try again."),
  internal: entry(
    "internal",
    500,
    "The service failed to answer.",
    "Try again; if it happens again, report the request id.",
  ),
  unavailable: entry(
    "internal",
    503,
    "The service can't answer just now: {reason}",
    "Try again in a moment.",
  ),
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof errors;

/** One field that is wrong, and what to send instead. */
export const ErrorDetail = z.object({
  field: z.string(),
  code: z.string(),
  message: z.string(),
  fix: z.string().optional(),
});
export type ErrorDetail = z.infer<typeof ErrorDetail>;

/** The body of every failed answer. Extra facts (`existing_id`, `required_scope`, …) stand beside `code`. */
export const ErrorBody = z.object({
  error: z.looseObject({
    type: z.enum(errorTypes),
    code: z.string(),
    message: z.string(),
    fix: z.string().optional(),
    param: z.string().optional(),
    details: z.array(ErrorDetail).optional(),
    request_id: z.string().optional(),
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
