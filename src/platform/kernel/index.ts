/** The kernel: what a module is, what its handlers are given, and how a call runs. */
export { type Call, createCall } from "./call.ts";
export { announceCapacity, type Change, closeThreadsOf, isBusy, serveQueueJob } from "./capacity.ts";
export { gather } from "./coalesce.ts";
export {
  type Caller,
  type Emission,
  freshId,
  type ReadContext,
  type Recorder,
  type Role,
  type World,
  type WriteContext,
} from "./context.ts";
export { emit, forgetEvents } from "./events.ts";
export type { IncomingFile } from "./form.ts";
export { forgetAnswers } from "./idempotency.ts";
export { takeTurn } from "./lock-organization.ts";
export { implement, type Listeners, type Module, type ModuleJob } from "./module.ts";
export { type AppSecrets, seal, secretsOf, unseal } from "./seal.ts";
