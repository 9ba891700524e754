/** What channels report of persons: messages, changes of messages, receipts, moves to other identities. */
import { changeMessageJob } from "./change-job.ts";
import { moveContactJob } from "./move.ts";
import { importMessagesJob, namePersonsJob } from "./phone/index.ts";
import { pollInboxJob, startPollingJob } from "./poll.ts";
import { deleteOldReceiptsJob } from "./receipts.ts";
import { receiveMessageJob } from "./receive.ts";

export { receiveReceipts } from "./receipts.ts";
export { receiveChange, receiveMessage } from "./receive-now.ts";
export { inboundRoutes } from "./route.ts";

export const inboundJobs = [
  receiveMessageJob,
  changeMessageJob,
  moveContactJob,
  importMessagesJob,
  namePersonsJob,
  pollInboxJob,
  startPollingJob,
  deleteOldReceiptsJob,
];
