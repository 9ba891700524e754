/** The kernel: what a module is, the contexts of its handlers, and how a call runs. */

// Declaring a module

export { defineJob, defineScheduledJob, type ModuleJob } from "./job.ts";
export { implement, type Listeners, type Module, type ModuleRoute, outward } from "./module.ts";

// Contexts and input of handlers

export {
  type Actor,
  actorOf,
  type Caller,
  isPerson,
  operatorOwner,
  type Role,
  recordOf,
  type Session,
  system,
} from "./actor.ts";
export type { BroadcastProgress } from "./broadcast-progress.ts";
export {
  type Change,
  type Erase,
  type ErasedContact,
  freshId,
  type Hooks,
  type OrganizationChange,
  type OutwardContext,
  type ReadContext,
  type World,
  type WriteContext,
} from "./context.ts";
export { combineHooks } from "./hooks.ts";

// Running calls

export {
  type Call,
  createCall,
  createResolveJob,
  deleteExpiredResponsesJob,
  requireScope,
  runForCaller,
  sealedResponses,
  throwDatabaseFailure,
} from "./call/index.ts";

// Events

export type { Emission, EventRecorder } from "./context.ts";
export { conversationOf, emit, isListenedTo } from "./events.ts";
export { listenerJobsOf } from "./listeners.ts";

// Tools for handlers and jobs

export { eraseContact, eraseContactJob, isNotErased, reporterSubject } from "./erase.ts";
export { countLocked, failQuota, limitOf, requireBelowQuota } from "./limits.ts";
export { lockOrganization } from "./lock-organization.ts";
export { type ResealOptions, resealAll, type SealedColumn } from "./reseal.ts";
export { defineRetentionJob, deleteDeadJobsJob } from "./retention.ts";
export { type AppSecrets, type SealSecrets, seal, secretsOf, tryUnseal, unseal } from "./seal.ts";
