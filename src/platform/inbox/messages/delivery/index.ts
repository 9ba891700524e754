/** Delivers queued messages to their channels. */
export { confirmMessageJob, deliverMessageJob } from "./deliver.ts";
export { markReadJob, newReadMarks } from "./read-marks.ts";
export { requireNoneWaiting } from "./template-uses.ts";
