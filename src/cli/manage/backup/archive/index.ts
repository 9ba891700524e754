/** The file of a backup: a tar of entries, compressed, and encrypted in the format of age. */
export { readEncryption } from "./encryption.ts";
export { damageError, openArchive, parseAs, type ReadEntry, readWhole, toText } from "./read.ts";
export { type ArchiveWriter, draftSuffix, writeArchive } from "./write.ts";
