/** The record of acts: who called what, with which outcome. */
export { type Act, type ActLog, type ActStore, type Agent, agentOf, operatorAgent } from "./act.ts";
export { createActLog, type OwnActLog } from "./log.ts";
export { type CallRecord, createCallRecord } from "./record-call.ts";
