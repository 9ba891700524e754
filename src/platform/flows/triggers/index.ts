/** What starts flows. `sources.ts` has the events; a trigger by time would be a job of its own that calls `startRun`. */
export { recordTriggers } from "./record.ts";
export { triggerJob } from "./trigger.ts";
