/** What starts flows but for schedules. `sources.ts` has the events. */
export { recordTriggers } from "./record.ts";
export { triggerJob } from "./trigger.ts";
export { triggerContactJob } from "./trigger-contact.ts";
export { sweepWindowsJob } from "./windows.ts";
