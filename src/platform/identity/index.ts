/** Credentials: API keys, access tokens and passwords. */
export { accessTokenSeconds, signAccessToken } from "./access-tokens.ts";
export { authenticate, roleScopes } from "./authenticate.ts";
export { hashPassword, newPassword, verifyPassword } from "./passwords.ts";
export { hashSecret, isExpired, keyPrefix, newKeySecret, randomSecret } from "./secrets.ts";
