/**
 * What statements of several modules are made of: the rows of one organization (`ofOrganization`), typed rows
 * of statements in SQL (`rowsOf`), rows as one parameter (`recordset`), pages of lists (`readPage`), reads
 * from one snapshot, and conditions that lead the planner to an index (`matchesKey`).
 */

export { updateBatch } from "./batch.ts";
export { containsText, toLikePattern } from "./contains.ts";
export { deleteOld } from "./delete-old.ts";
export { insertAll } from "./insert-all.ts";
export { refersTo } from "./join.ts";
export { ofOrganization } from "./of-organization.ts";
export { onlyRow } from "./only-row.ts";
export { estimateTotal, isDeepPage, readPage } from "./page.ts";
export { byWholeKey, countedRecordset, matchesKey } from "./planner.ts";
export { columnOf, columnsOf, type InputRow, recordset } from "./recordset.ts";
export { allColumnsOf, nullable, type RowOf, rowsOf, typed } from "./rows-of.ts";
export { readSnapshot, readWithSnapshot } from "./snapshot.ts";
export { ReadTimeoutError, withTimeLimit } from "./time-limit.ts";
