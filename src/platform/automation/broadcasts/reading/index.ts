/** Estimates a broadcast, lists its recipients, waits for its progress, and sends its message as a test. */
export { estimateBroadcast } from "./estimate.ts";
export { listRecipients } from "./recipients.ts";
export { recipientsRoute } from "./recipients-route.ts";
export { sendTest } from "./test-send.ts";
export { waitForBroadcast } from "./wait.ts";
