/** Runs of flows: start, execution node by node, waits and end. */

export { addressMessage, changeAttribute, nameTemplate } from "./actions.ts";
export { advance } from "./advance.ts";
export { cancelRuns, cancelStatement } from "./cancel.ts";
export { type EndActionWithConfig, evaluateNext, testsOfNext } from "./evaluate.ts";
export { callJobType, type EpisodeKey } from "./job-types.ts";
export { advanceJob, resumeJob } from "./jobs.ts";
export { beginRun, clearWork, endWait, type RunState } from "./machine.ts";
export { keyOf, lockRun, type RunKey, type RunRow, selectActiveRuns, storeRun } from "./rows.ts";
export { createAdvanceJob, insertRun, recordTimeout, requireStartable, startRun } from "./start.ts";
export { startRuns } from "./start-many.ts";

export {
  type InboundText,
  lockReachable,
  readInboundText,
} from "./subject.ts";
