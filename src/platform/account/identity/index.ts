/** The parts of credentials: secrets, access tokens, passwords, and the scopes of roles. */
export { accessTokenSeconds, readAccessToken, signAccessToken } from "./access-tokens.ts";
export { hashPassword, newPassword, verifyPassword } from "./passwords.ts";
export { roleScopes } from "./roles.ts";
export { hashSecret, isExpired, keyPrefix, newKeySecret, randomSecret } from "./secrets.ts";
export { requireActiveOrganization, requireNotSuspended } from "./suspension.ts";
