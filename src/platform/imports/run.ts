/**
 * Does an import: reads on from where the last batch was committed.
 *
 * A batch and its progress commit together, so a crash loses nothing and repeats nothing. A row that can't
 * be taken is reported and passed over; a file that can't be read on ends the import, and what was done
 * until then stays.
 */
import { Failure } from "../../../tools/contract/index.ts";
import { maxImportRows } from "../../../tools/imports.ts";
import type { Outcome } from "../../jobs/job.ts";
import type { ModuleJob, World } from "../kernel/index.ts";
import { discard, fetchFile, getUpload, keep } from "../uploads/index.ts";
import { commitBatch, type ImportId } from "./batch.ts";
import { type CsvRow, readCsv, Unreadable } from "./csv.ts";
import { type Columns, readHeader } from "./row.ts";

/** How long a transaction may take: on the embedded database it has the only connection, and all others wait. */
const transactionMs = { embedded: 50, postgres: 200 };

/** Rows of one transaction. Of more than that a commit is no cheaper for each. */
const batch = { fewest: 25, most: 200 };

/** A file at an address may come slowly: nobody waits for the answer. */
const fetchTimeoutMs = 120_000;

export const runImport: ModuleJob<ImportId> = {
  name: "import.run",
  // What a crash interrupts goes on after this.
  leaseMs: 15_000,

  async run(payload, world) {
    try {
      return await importAll(payload, world);
    } catch (error) {
      if (world.stopping.aborted) {
        // What the end of the process broke off is no failure of the file.
        return { runAgainAt: world.now() };
      }
      const failure = explain(error);
      if (failure === undefined) {
        throw error;
      }
      return finish(world, payload, failure);
    }
  },

  async exhausted(payload, world) {
    await finish(world, payload, "Something went wrong here; import the file again.");
  },
};

/** What the file or its address did, and what to do about it; undefined for what went wrong here. */
function explain(error: unknown): string | undefined {
  if (error instanceof Unreadable) {
    return error.message;
  }
  if (error instanceof Failure && error.status < 500) {
    const { message, fix } = error.body().error;
    return `${message} ${fix}`;
  }
  return undefined;
}

async function importAll(payload: ImportId, world: World): Promise<Outcome> {
  const key = await sourceOf(payload, world);
  const file = key === undefined ? undefined : await world.storage.read(key);
  if (!file) {
    return finish(
      world,
      payload,
      key === undefined ? null : "The file is not there any more: upload it again.",
    );
  }
  const isWhole = await readRows(payload, world, file);
  return isWhole ? finish(world, payload, null) : { runAgainAt: world.now() };
}

type File = AsyncIterable<Uint8Array>;

/** Commits batch after batch; false if the house stops before the end. @throws Unreadable */
async function readRows(payload: ImportId, world: World, file: File): Promise<boolean> {
  const done = await positionOf(payload, world);
  let columns: Columns | undefined;
  let rows: CsvRow[] = [];
  let size = batch.fewest;
  // The header is row 0.
  let read = -1;
  const flush = async () => {
    if (columns && rows.length > 0) {
      const begin = world.now().getTime();
      await commitBatch(payload, world, { columns, rows, before: read - rows.length });
      const share = transactionMs[world.database.engine] / (world.now().getTime() - begin);
      size = Math.max(batch.fewest, Math.min(batch.most, Math.floor(rows.length * share)));
    }
    rows = [];
  };
  try {
    for await (const row of readCsv(file)) {
      columns ??= readHeader(row.cells);
      if (read >= maxImportRows) {
        throw new Unreadable(
          `The file has more than ${maxImportRows} rows: so many were imported; import the others as a file of their own.`,
        );
      }
      read += 1;
      if (read > done) {
        rows.push(row);
      }
      if (rows.length >= size) {
        await flush();
        if (world.stopping.aborted) {
          return false;
        }
      }
    }
  } catch (error) {
    if (error instanceof Unreadable) {
      await flush();
    }
    throw error;
  }
  if (!columns) {
    throw new Unreadable(
      "The file is empty: it needs a line that names its columns, and one for each contact.",
    );
  }
  await flush();
  return true;
}

/** The key of the file, fetched first if it is at an address; undefined when the import has ended. */
async function sourceOf({ organization_id, import_id }: ImportId, world: World): Promise<string | undefined> {
  const { queries } = world.database;
  const row = await queries
    .updateTable("imports")
    .set({ status: "running", updated_at: world.now().toISOString() })
    .where("organization_id", "=", organization_id)
    .where("id", "=", import_id)
    .where("status", "in", ["queued", "running"])
    .returning(["upload_id", "url"])
    .executeTakeFirst();
  if (!row) {
    return undefined;
  }
  if (row.upload_id !== null) {
    return (await getUpload(queries, organization_id, row.upload_id)).key;
  }
  const received = await fetchFile(
    { world, organization: organization_id },
    { url: row.url ?? "", ending: "csv", timeoutMs: fetchTimeoutMs, signal: world.stopping },
  );
  // Text has been looked at as CSV is, and many addresses call it so.
  if (!["text/csv", "text/plain"].includes(received.content_type)) {
    await discard(world, received);
    throw new Unreadable(
      `The address leads to ${received.content_type}, and not to a CSV file: give one that answers with the file itself.`,
    );
  }
  await world.database.transaction(async (tx) => {
    const { id } = await keep(tx, received, false);
    await tx
      .updateTable("imports")
      .set({ upload_id: id })
      .where("organization_id", "=", organization_id)
      .where("id", "=", import_id)
      .execute();
  });
  return received.key;
}

async function positionOf({ organization_id, import_id }: ImportId, world: World): Promise<number> {
  const { position } = await world.database.queries
    .selectFrom("imports")
    .select("position")
    .where("organization_id", "=", organization_id)
    .where("id", "=", import_id)
    .executeTakeFirstOrThrow();
  return position;
}

/** Ends the import, well or with the reason why not; nothing happens to one that has ended. */
async function finish(
  world: World,
  { organization_id, import_id }: ImportId,
  failure: string | null,
): Promise<undefined> {
  const now = world.now().toISOString();
  await world.database.queries
    .updateTable("imports")
    .set({ status: failure === null ? "done" : "failed", failure, updated_at: now, finished_at: now })
    .where("organization_id", "=", organization_id)
    .where("id", "=", import_id)
    .where("status", "in", ["queued", "running"])
    .execute();
}
