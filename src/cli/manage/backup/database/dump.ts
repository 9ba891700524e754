/** Reads all rows of a database as they are at one moment, while others write to it. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../../../database/database.ts";
import { withoutTimeLimits } from "../../../../database/outage/index.ts";
import { rowsOf } from "../../../../database/query/index.ts";
import { type BackupTable, setTextFormats } from "./tables.ts";

/** Bounds the memory: a row has up to some megabytes. */
const batchSize = 200;

/**
 * Calls `work` with a transaction that sees one state of the database, and takes no lock that writers wait
 * for.
 */
export function readOneState<Result>(
  database: Database,
  work: (tx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  let hasBegun = false;
  return withoutTimeLimits(() =>
    database.transaction(async (tx) => {
      if (hasBegun) {
        // What was written to the backup can't be taken back.
        throw new Error("The database ended the transaction that reads it. Run the command again.");
      }
      hasBegun = true;
      await sql`set transaction isolation level repeatable read, read only`.execute(tx);
      await setTextFormats(tx);
      return await work(tx);
    }),
  );
}

/**
 * The rows of a table, each as a JSON array with the text of every column, or null. The text is what
 * PostgreSQL reads back as the same value, on any server of any version.
 */
export async function* dumpRows(
  tx: DatabaseTransaction,
  { name, columns }: BackupTable,
): AsyncGenerator<readonly string[]> {
  const texts = sql.join(columns.map((column) => sql`${sql.ref(column.name)}::text`));
  await sql`
    declare backup_rows no scroll cursor for select to_json(array[${texts}]::text[])::text as line
    from ${sql.table(name)}
  `.execute(tx);
  for (;;) {
    const { rows } = await rowsOf({
      line: "text",
    })`fetch forward ${sql.lit(batchSize)} from backup_rows`.execute(tx);
    if (rows.length === 0) {
      break;
    }
    yield rows.map(({ line }) => line);
  }
  await sql`close backup_rows`.execute(tx);
}
