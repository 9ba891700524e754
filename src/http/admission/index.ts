/** Admission: who sends a request, and whether it exceeds a limit. */

export { type Admission, createAdmission, type MessageAdmission } from "./admission.ts";
export { createAuthenticator } from "./authenticator.ts";
export { admitRequests, type RequestActor, toActor, toExchange } from "./hook.ts";
export { createLoginLimit } from "./login-limit.ts";
export type { RateLimits } from "./token-buckets.ts";
