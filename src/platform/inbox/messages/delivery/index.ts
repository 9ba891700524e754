/** Delivers queued messages to their channels. */
export { confirmMessageJob, deliverMessageJob } from "./deliver.ts";
export { requireNoneWaiting } from "./template-uses.ts";
