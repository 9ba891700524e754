/** Reads broadcasts: estimate, cost, recipients and progress; and sends the message as a test. */
export { readCost } from "./cost.ts";
export { toCsvRow } from "./csv.ts";
export { estimateBroadcast } from "./estimate.ts";
export { listRecipients } from "./recipients.ts";
export { recipientsRoute } from "./recipients-route.ts";
export { planTest, runTest, sendTest } from "./test-send.ts";
export { waitForBroadcast } from "./wait.ts";
