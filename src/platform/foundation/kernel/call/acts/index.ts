/** The record of acts: who called what, with which outcome. */
export {
  type ActAgent,
  type ActLog,
  type ActStore,
  agentOf,
  operatorAgent,
  type RecordedAct,
} from "./act.ts";
export { createActLog, type OwnActLog } from "./log.ts";
export { type CallRecord, createCallRecord } from "./record-call.ts";
