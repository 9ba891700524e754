/** Credentials: API keys, access tokens, passwords, and the first organization. */
export { accessTokenSeconds, signAccessToken } from "./access-tokens.ts";
export { authenticate, roleScopes } from "./authenticate.ts";
export { hashPassword, isPassword, newPassword } from "./passwords.ts";
export { hashSecret, isExpired, keyMarker, newKeySecret, randomSecret } from "./secrets.ts";
