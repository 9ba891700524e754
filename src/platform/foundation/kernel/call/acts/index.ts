/** The record of acts: who called what, with which outcome. */
export {
  type ActAgent,
  type ActLog,
  type ActStore,
  agentOf,
  type CallRecord,
  operatorAgent,
  type RecordedAct,
} from "./act.ts";
export { createActLog, type OwnActLog } from "./log.ts";
export { createCallRecord } from "./record-call.ts";
