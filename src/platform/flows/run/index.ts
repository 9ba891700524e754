/** Runs of flows: started, advanced node by node, waiting, ended. */
export { cancelRuns, cancelStatement } from "./cancel.ts";
export { advanceJob, resumeJob } from "./jobs.ts";
export { endWait } from "./machine.ts";
export { keyOf, type RunRow, selectActiveRuns, storeRun } from "./rows.ts";
export { createAdvanceJob, findInteractiveRun, startRun } from "./start.ts";
export { startRuns } from "./start-many.ts";
export { requireStartable } from "./startable.ts";
export { lockConversationSubject, readInbound, type Subject } from "./subject.ts";
