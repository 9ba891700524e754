/**
 * What is read of a conversation: its place in a list, its messages, and everything that is
 * needed to act on it.
 */
export { blockedReason } from "./actions.ts";
export { readConversationContext } from "./context.ts";
export { readLatestMessages } from "./latest.ts";
export { listConversations } from "./list-conversations.ts";
export { readInboxReport } from "./report.ts";
export { indexMessagesJob, replaceWords, searchMessages } from "./search/index.ts";
export { viewMedia } from "./view-media.ts";
