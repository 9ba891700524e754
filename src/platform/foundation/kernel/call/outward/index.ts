/** Operations that call a third party: how they run, and how calls whose process died are resolved. */
export { closeIntent, keepRunning, type OwnIntent, openIntent } from "./intents.ts";
export { createResolveJob } from "./resolve-job.ts";
export { resolveAbandoned, runOutward } from "./run.ts";
