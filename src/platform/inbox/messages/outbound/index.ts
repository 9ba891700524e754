/** How messages are sent: checked, stored with their price and enqueued, one by one or in bulk. */
export { readAddress } from "./address.ts";
export { awaitDelivery } from "./await-delivery.ts";
export { requireWindow } from "./check.ts";
export { composeMessage } from "./compose.ts";
export { enqueueMessages, newMessageId } from "./enqueue.ts";
export { type BulkMessages, enqueueBulkMessages } from "./enqueue-bulk.ts";
export { nameInSummary, planMessage, sendPlanned } from "./plan.ts";
export { contactIdOf } from "./recipient.ts";
export { replaceBroadcastMessages } from "./replace.ts";
export { requireAllowedMessage } from "./rules.ts";
export { sendAlone, sendMessage, sendTogether } from "./send.ts";
