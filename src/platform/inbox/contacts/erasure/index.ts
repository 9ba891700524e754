/** Erases contacts, and records that in a log outside of the database. */
export {
  type ErasedContact,
  eraseContact,
  eraseContactJob,
  eraseKnownContact,
  erasesContact,
  reporterSubject,
} from "./erase.ts";
export { recordErasureJob } from "./record.ts";
