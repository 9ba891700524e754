/** Credentials: API keys, access tokens and passwords. */
export { accessTokenSeconds, readAccessToken, signAccessToken } from "./access-tokens.ts";
export { hashPassword, newPassword, verifyPassword } from "./passwords.ts";
export { roleScopes } from "./roles.ts";
export { hashSecret, isExpired, keyPrefix, newKeySecret, randomSecret } from "./secrets.ts";
