/** Ways of reading and writing rows that several modules share. */
export { holds, patternOf } from "./contains.ts";
export { insertAll } from "./insert-all.ts";
export { refersTo } from "./join.ts";
export { matchesCountedUpTo, readPage } from "./page.ts";
export { readInSnapshot, readSnapshot } from "./snapshot.ts";
