/** Errors of a database with a page that can't be read. */
import pg from "pg";

/**
 * A page of a table or an index can't be read. From then on this process writes nothing, because a write
 * that depends on what can't be read may destroy more. The message is the engine's.
 */
export class DamageError extends Error {
  override readonly name = "DamageError";

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : "A page can't be read.", { cause });
  }
}

/** data_corrupted and index_corrupted. */
const damageStates: ReadonlySet<unknown> = new Set(["XX001", "XX002"]);
/** io_error and undefined_file, which are damage if they are errors of a table's or an index's file. */
const fileStates: ReadonlySet<unknown> = new Set(["58030", "58P01"]);
/**
 * The functions of PostgreSQL that open and read the files of tables and indexes, and of the states of
 * transactions. Unlike the messages, their names do not depend on the server's language.
 */
const fileRoutines = /^(?:md_?(?:open|read)|SlruReport)/;

/** Whether an error of the engine means that a page can't be read, or has other content than was written. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) {
    return false;
  }
  const { code, routine = "" } = error;
  return damageStates.has(code) || (fileStates.has(code) && fileRoutines.test(routine));
}
