/** How a broadcast is sent: executed, dispatched, paused, cancelled, retried and counted. */

export { type RecipientCandidate, selectCandidates, selectValues } from "./candidates.ts";
export { cancelBroadcast, pauseAllBroadcasts, pauseBroadcast, resumeBroadcast } from "./control.ts";
export { type DailyLimit, leftToday } from "./daily-limit.ts";
export { dispatchBroadcastJob } from "./dispatch.ts";
export { executeBroadcast, startable } from "./execute.ts";
export { readBroadcastRates } from "./freeze.ts";
export { freezeCandidate, type PlannedRecipient, requirePlannedPrices } from "./planned-recipients.ts";
export { countProgress } from "./progress.ts";
export { retryBroadcast } from "./retry.ts";
export { requireSchedulable, scheduleStart, startBroadcastJob } from "./schedule.ts";
