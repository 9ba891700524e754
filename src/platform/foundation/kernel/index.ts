/** The kernel: modules, the contexts of their handlers, and the execution of calls. */

// Declaring a module

export { connectModules } from "./connect/index.ts";
export { defineJob, defineScheduledJob, type ModuleJob } from "./job.ts";
export { implement, type Module, type ModuleRoute, outward } from "./module.ts";

// Contexts and input of handlers

export {
  type Actor,
  type Caller,
  isPerson,
  operatorOwner,
  recordOf,
  type Session,
  system,
} from "./actor.ts";
export {
  type Change,
  type ErasureSteps,
  freshId,
  type OrganizationChange,
  type OutwardContext,
  type ReadContext,
  type World,
  type WriteContext,
} from "./context.ts";
export { defineHook } from "./hook.ts";

// Running calls

export {
  type Call,
  createCall,
  requireScope,
  runForCaller,
  runningUntil,
  sealedResponses,
  throwDatabaseFailure,
} from "./call/index.ts";

// Events

export { isListenedTo } from "./events.ts";
export { type Emission, type EventRecorder, Transaction } from "./transaction.ts";

// Tools for handlers and jobs

export { eraseStored, hideStored } from "./erase.ts";
export { createKernelJobs } from "./own-jobs.ts";
export { defineRetentionJob } from "./retention.ts";
export { shareTransactions } from "./share-transactions.ts";
