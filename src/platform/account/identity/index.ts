/** Credentials: API keys, access tokens and passwords. */
export { accessTokenSeconds, readAccessToken, signAccessToken } from "./access-tokens.ts";
export { findEndedCallers } from "./ended-callers.ts";
export { isLiveKey, scopesOfKey, selectKeys } from "./keys.ts";
export { hashPassword, newPassword, verifyPassword } from "./passwords.ts";
export { roleScopes } from "./roles.ts";
export { hashSecret, keyPrefix, newKeySecret, randomSecret } from "./secrets.ts";
export { selectSessionUser } from "./sessions.ts";
export { requireNotSuspended, selectSuspension } from "./suspension.ts";
