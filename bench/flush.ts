/**
 * The embedded database: how long a commit takes, and how long it would take if it were flushed to the disk.
 *
 * The engine flushes nothing. After each commit this program flushes the write-ahead log with fdatasync, as
 * PostgreSQL does it. `--folder DIR` names a folder on the disk to measure; default: the
 * folder for temporary files, which may be in memory.
 */
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { openDatabase } from "../src/database/connect.ts";
import { median } from "./support/median.ts";

const { values: options } = parseArgs({
  options: {
    folder: { type: "string", default: tmpdir() },
    commits: { type: "string", default: "500" },
  },
});
const commits = Number(options.commits);
const silent = () => undefined;
const log = { debug: silent, info: silent, warn: silent, error: console.error };

const dataDir = await mkdtemp(join(options.folder, "tidings-flush-"));
try {
  await using database = await openDatabase({ url: undefined, dataDir, startsEmpty: true, log });
  const { queries } = database;
  await sql`create table entries (id bigint generated always as identity primary key, body text)`.execute(
    queries,
  );
  const settings = await sql<{ fsync: string; segment: string }>`
    select current_setting('fsync') as fsync, pg_walfile_name(pg_current_wal_insert_lsn()) as segment
  `.execute(queries);
  const [{ fsync, segment } = { fsync: "", segment: "" }] = settings.rows;
  await using file = await open(join(dataDir, "database/pg_wal", segment), "r+");

  const commit = () => sql`insert into entries (body) values (repeat('x', 500))`.execute(queries);
  const times = { commit: [] as number[], flush: [] as number[] };
  for (let number = 0; number < commits; number += 1) {
    times.commit.push(await time(commit));
    times.flush.push(await time(() => file.datasync()));
  }
  console.log(`fsync of the engine: ${fsync}`);
  console.log(`a commit:                    ${median(times.commit).toFixed(2)} ms`);
  console.log(`a flush of what it wrote:    ${median(times.flush).toFixed(2)} ms`);
  console.log(`Medians of ${commits} commits of 500 bytes, one after the other, in ${options.folder}`);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

/** In milliseconds. */
async function time(run: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await run();
  return performance.now() - begin;
}
