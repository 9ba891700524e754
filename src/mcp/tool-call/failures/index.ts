/** What becomes of a call that fails: its text for a model, and the report of one that is not made. */
export { createFailureResult, describeToolFailure } from "./describe-failure.ts";
export { type ToolFailure, toToolFailure } from "./failure.ts";
export { reportRejection } from "./report-rejection.ts";
