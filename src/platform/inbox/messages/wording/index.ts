/** What the service says of messages in words: failures, and contents without a text. */
export { type DeliveryError, internalFailures, toDeliveryError } from "./failures.ts";
export { summaryOf } from "./summary.ts";
