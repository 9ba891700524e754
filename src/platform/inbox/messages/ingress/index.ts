/** What a real channel reports: the addresses for it, and the jobs that receive it. */
import { changeMessageJob } from "./changes.ts";
import { moveContactJob } from "./move.ts";
import { deleteOriginalsJob } from "./originals.ts";
import { receiveMessageJob } from "./receive.ts";

export { findOriginal } from "./originals.ts";
export { ingressRoutes } from "./route.ts";

export const ingressJobs = [receiveMessageJob, changeMessageJob, moveContactJob, deleteOriginalsJob];
