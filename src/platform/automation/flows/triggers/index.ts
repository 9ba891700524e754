/** The triggers of flows, except schedules. `sources.ts` lists the events. */
export { hasTrigger, readTrigger, storedTrigger, triggerColumns } from "./columns.ts";
export { reactsTo, testsOfTrigger } from "./matching.ts";
export { recordTriggers } from "./record.ts";
export { triggerJob } from "./trigger.ts";
export { triggerContactJob } from "./trigger-contact.ts";
export { sweepWindowsJob } from "./windows.ts";
