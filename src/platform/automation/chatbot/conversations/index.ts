/** The bot in conversations: who gives one to it, how it answers, and when it is silent. */
export { answerJob, handOver } from "./answer.ts";
export { readBot, showSource } from "./note.ts";
export { receiveJob } from "./receive.ts";
export { recordMessages, takesMessage } from "./record.ts";
export { startBot } from "./start.ts";
export { endForErased, endStatement, endWhenTaken, findHeldByBot } from "./state.ts";
