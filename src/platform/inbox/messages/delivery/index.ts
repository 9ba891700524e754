/** Delivers queued messages to their channels. */
export { claimRestoredMessages } from "./after-restore.ts";
export { confirmMessageJob, deliverMessageJob } from "./deliver.ts";
export { markReadJob, newReadMarks } from "./read-marks.ts";
export { sealedCodes } from "./sealed-codes.ts";
export { requireNoneWaiting } from "./template-uses.ts";
export { waitOf } from "./wait-reasons.ts";
