/** Batches: pieces of database work that run together. */
export { coalesce } from "./coalesce.ts";
export { FairBatches } from "./fair-batches.ts";
