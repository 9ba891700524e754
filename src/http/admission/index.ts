/** Admission: identifies the sender of a request, and checks limits. */

export { type Admission, createAdmission, type MessageAdmission } from "./admission.ts";
export { createAuthenticator } from "./authenticator.ts";
export { holdRequests } from "./hold-requests.ts";
export { admitRequests, type RequestActor, toActor, toExchange } from "./hook.ts";
export { createLoginLimit, type LoginLimit } from "./login-limit.ts";
export { networkOf } from "./network.ts";
export type { RateLimits } from "./token-buckets.ts";
export { createVerification, type Verification } from "./verification.ts";
