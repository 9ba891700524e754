/** Credentials that are missing, unknown, or not enough. */
import { type Entry, entry } from "./entry.ts";

export const accessErrors = {
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
} as const satisfies Record<string, Entry>;
