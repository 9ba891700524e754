/** How pieces of database work share connections, statements and transactions. */
export { coalesce } from "./coalesce.ts";
export { FairBatches } from "./fair-batches.ts";
export {
  anonymousOwner,
  currentOwner,
  FairQueue,
  NoFreePlaceError,
  recordOwner,
  runFor,
} from "./fair-queue.ts";
export { shareReading } from "./share-reading.ts";
export { shareWithinOrganization } from "./share-within-organization.ts";
export { recursAlone, sharedLockTimeoutMs } from "./shared-transaction.ts";
