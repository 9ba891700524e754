/** What is read of a broadcast: its estimate, its recipients, its counts as they change, and its message as a test. */
export { estimateBroadcast } from "./estimate.ts";
export { listRecipients } from "./recipients.ts";
export { recipientsRoute } from "./recipients-route.ts";
export { sendTest } from "./test-send.ts";
export { waitForBroadcast } from "./wait.ts";
