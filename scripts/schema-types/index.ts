/**
 * Writes the types of the tables and the SQL types of their columns from a database that the migrations have
 * created; `--check` only compares a digest of the migrations and the declarations, because creating a
 * database takes ten seconds. `test/schema-types.test.ts` compares the files with a database on both engines.
 *
 * kysely-codegen was considered and not used: it does not write the SQL types as data, so another reader of
 * the tables would be necessary, and it has no comments for columns.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/database/connect.ts";
import { migrate } from "../../src/database/migrate.ts";
import { isCurrent, renderFiles, writeFiles } from "./files.ts";

const log = { debug() {}, info() {}, warn() {}, error: console.error };

if (!process.argv.includes("--check")) {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-schema-"));
  try {
    await using database = await openDatabase({ url: undefined, dataDir, log });
    await migrate(database);
    writeFiles(await renderFiles(database.queries));
  } finally {
    await rm(dataDir, { recursive: true });
  }
} else if (isCurrent()) {
  console.log("The types of the tables are up to date.");
} else {
  console.error("The types of the tables are out of date. Run: npm run schema-types");
  process.exitCode = 1;
}
