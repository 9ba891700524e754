/**
 * The bot in conversations: who gives a conversation to the bot, how the bot answers, and when it is silent.
 */
export { answerJob, handOver } from "./answer.ts";
export { readBot, showSource } from "./note.ts";
export { flowAnswers, receiveJob } from "./receive.ts";
export { isForBotIn, recordMessages } from "./record.ts";
export { releaseJob } from "./release.ts";
export { startBot } from "./start.ts";
export { endForErased, endWhenTaken, findHeldByBot } from "./state.ts";
