/** The kernel: what a module is, what its handlers are given, and how a call runs. */
export { type Call, createCall } from "./call.ts";
export {
  type Change,
  closeConversations,
  countsAsLoad,
  enqueueServeQueue,
  serveQueueJobName,
} from "./capacity.ts";
export { coalesce } from "./coalesce.ts";
export {
  type Caller,
  type Emission,
  type EventRecorder,
  freshId,
  type ReadContext,
  type Role,
  type World,
  type WriteContext,
} from "./context.ts";
export { emit, eraseEvents } from "./events.ts";
export type { IncomingFile } from "./form.ts";
export { deleteExpiredResponsesJob } from "./idempotency.ts";
export { lockOrganization } from "./lock-organization.ts";
export { implement, type Listeners, type Module, type ModuleJob } from "./module.ts";
export { type AppSecrets, seal, secretsOf, unseal } from "./seal.ts";
