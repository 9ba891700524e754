/** Operations that call a third party: how they run, and how calls whose process died are resolved. */
export { keepRunning, runningUntil } from "./claim.ts";
export { claimOfKey, closeIntent, type OwnIntent, openIntent } from "./intents.ts";
export { createResolveJob } from "./resolve-job.ts";
export { completeCall, resolveAbandoned, runOutward } from "./run.ts";
