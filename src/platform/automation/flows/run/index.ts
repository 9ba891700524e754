/** Runs of flows: start, execution node by node, waits and end. */

export { addressMessage, changeAttribute, nameTemplate } from "./actions.ts";
export { advance } from "./advance.ts";
export { cancelRuns, cancelStatement } from "./cancel.ts";
export { type EndActionWithConfig, evaluateNext, testsOfNext } from "./evaluate.ts";
export { callJobType, type EpisodeKey } from "./job-types.ts";
export { advanceJob, resumeJob } from "./jobs.ts";
export { beginRun, clearWork, endWait, type RunState } from "./machine.ts";
export {
  keyOf,
  lockInteractiveRuns,
  lockRun,
  type RunKey,
  type RunRow,
  selectActiveRuns,
  storeRun,
  storeRuns,
} from "./rows.ts";
export {
  createAdvanceJob,
  insertRuns,
  recordTimeout,
  requireStartable,
  startRun,
  startRuns,
} from "./start.ts";

export {
  type InboundText,
  lockReachable,
  readInboundTexts,
} from "./subject.ts";
