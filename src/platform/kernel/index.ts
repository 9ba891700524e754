/** The kernel: what a module is, the contexts of its handlers, and how a call runs. */

// Declaring a module

export { implement, type Listeners, type Module, type ModuleJob, type ModuleRoute } from "./module.ts";

// Contexts and input of handlers

export {
  type Caller,
  freshId,
  type IncomingFile,
  type ReadContext,
  type Role,
  type World,
  type WriteContext,
} from "./context.ts";

// Running calls

export { type Call, createCall } from "./call.ts";
export { deleteExpiredResponsesJob } from "./idempotency.ts";

// Events

export type { Emission, EventRecorder } from "./context.ts";
export { emit, eraseEvents } from "./events.ts";

// Tools for handlers and jobs

export { coalesce } from "./coalesce.ts";
export { lockOrganization } from "./lock-organization.ts";
export { type AppSecrets, seal, secretsOf, unseal } from "./seal.ts";

// The load of agents, used by modules below and above routing

export {
  type Change,
  closeConversations,
  countsAsLoad,
  enqueueServeQueue,
  serveQueueJobName,
} from "./capacity.ts";
