/** Creates the archive of an empty database, with which the first start on a new data folder begins. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { openDatabase } from "../src/database/connect.ts";
import { archiveName } from "../src/database/embedded/archive-name.ts";
import { migrate } from "../src/database/migrate.ts";

const log = { debug() {}, info() {}, warn() {}, error: console.error };

/** Runs initdb and all migrations. */
export async function archiveDatabase(outdir: string): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-archive-"));
  try {
    await createDatabase(dataDir);
    const engine = await PGlite.create({ dataDir: join(dataDir, "database") });
    const archive = await engine.dumpDataDir("gzip");
    await engine.close();
    await writeFile(join(outdir, archiveName()), Buffer.from(await archive.arrayBuffer()));
  } finally {
    await rm(dataDir, { recursive: true });
  }
}

async function createDatabase(dataDir: string): Promise<void> {
  await using database = await openDatabase({ url: undefined, dataDir, log });
  await migrate(database);
}
