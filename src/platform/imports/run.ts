/**
 * The job that runs an import: continues after the last committed batch.
 *
 * A batch and its progress are committed together, so a crash neither loses nor repeats rows. An invalid row is
 * reported and skipped. A file that can't be read further ends the import; the rows before stay imported.
 */
import { z } from "zod";
import { Failure } from "../../../tools/contract/index.ts";
import { maxImportRows } from "../../../tools/imports.ts";
import type { Outcome } from "../../jobs/job.ts";
import { defineJob, type World } from "../kernel/index.ts";
import { commitUpload, discardFile, fetchFile, getUpload } from "../uploads/index.ts";
import { commitBatch, ImportId } from "./batch.ts";
import { type CsvRow, readCsv, UnreadableFileError } from "./csv.ts";
import { type Columns, readHeader } from "./row.ts";
import { rejectTags } from "./tags.ts";

/** The target duration of a transaction: on the embedded database it holds the only connection. */
const transactionMs = { embedded: 50, postgres: 200 };

/** Rows in one transaction. Larger batches cost no less per row. */
const batchSize = { min: 25, max: 200 };

/** Longer than for uploads, because no caller waits for the response. */
const fetchTimeoutMs = 120_000;

/** An import that an earlier version queued has no more than its id. */
const ImportJob = ImportId.extend({
  /** The key or the user that started it: a file that it fetches belongs to them. */
  credential_id: z.string().nullable().default(null),
  may_set_tags: z.boolean().default(true),
});
type ImportJob = Readonly<z.infer<typeof ImportJob>>;

export const runImportJob = defineJob({
  name: "import.run",
  payload: ImportJob,
  // After a crash the import continues when the lease ends.
  leaseMs: 15_000,

  async run(payload, world) {
    try {
      return await importFile(payload, world);
    } catch (error) {
      if (world.stopping.aborted) {
        // Aborted by the shutdown, not by an error of the file.
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
    await finish(world, payload, "An internal error occurred; import the file again.");
  },
});

/** The message for the user if the file or its URL caused the error; undefined for an internal error. */
function explain(error: unknown): string | undefined {
  if (error instanceof UnreadableFileError) {
    return error.message;
  }
  if (error instanceof Failure && error.status < 500) {
    const { message, fix } = error.body().error;
    return `${message} ${fix}`;
  }
  return undefined;
}

async function importFile(payload: ImportJob, world: World): Promise<Outcome> {
  const key = await resolveSource(payload, world);
  const file = key === undefined ? undefined : await world.storage.read(key);
  if (!file) {
    return finish(world, payload, key === undefined ? null : "The file no longer exists: upload it again.");
  }
  const isComplete = await importRows(payload, world, file);
  return isComplete ? finish(world, payload, null) : { runAgainAt: world.now() };
}

type File = AsyncIterable<Uint8Array>;

/** Imports the rows in batches; false if the service stops before the end. @throws UnreadableFileError */
async function importRows(payload: ImportJob, world: World, file: File): Promise<boolean> {
  const committed = await readPosition(payload, world);
  const batches = createBatches(payload, world);
  let columns: Columns | undefined;
  // The header is row 0.
  let position = -1;
  try {
    for await (const row of readCsv(file)) {
      columns ??= readColumns(row.cells, payload);
      if (position >= maxImportRows) {
        throw new UnreadableFileError(
          `The file has more than ${maxImportRows} rows. The first ${maxImportRows} were imported; import the others as a separate file.`,
        );
      }
      position += 1;
      if (position > committed && batches.add(row)) {
        await batches.commit(columns, position);
        if (world.stopping.aborted) {
          return false;
        }
      }
    }
  } catch (error) {
    if (error instanceof UnreadableFileError && columns) {
      await batches.commit(columns, position);
    }
    throw error;
  }
  if (!columns) {
    throw new UnreadableFileError(
      "The file is empty: it needs a line with the column names, and one line for each contact.",
    );
  }
  await batches.commit(columns, position);
  return true;
}

/** @throws UnreadableFileError; Failure `tags_not_permitted`. */
function readColumns(cells: readonly string[], { may_set_tags }: ImportJob): Columns {
  const columns = readHeader(cells);
  if (!may_set_tags) {
    rejectTags(columns);
  }
  return columns;
}

/** Collects rows, and adapts the size of the batches to the duration of their transactions. */
function createBatches(payload: ImportId, world: World) {
  let rows: CsvRow[] = [];
  let size = batchSize.min;
  return {
    /** True when the batch is full. */
    add(row: CsvRow): boolean {
      rows.push(row);
      return rows.length >= size;
    },
    /** Commits the collected rows, of which the last is at `position`. */
    async commit(columns: Columns, position: number): Promise<void> {
      if (rows.length === 0) {
        return;
      }
      const startedAt = world.now().getTime();
      await commitBatch(payload, world, { columns, rows, start: position - rows.length });
      const factor = transactionMs[world.database.engine] / (world.now().getTime() - startedAt);
      size = Math.max(batchSize.min, Math.min(batchSize.max, Math.floor(rows.length * factor)));
      rows = [];
    },
  };
}

/** The key of the file, which is downloaded first if the import has a URL; undefined if the import has ended. */
async function resolveSource(
  { organization_id, import_id, credential_id }: ImportJob,
  world: World,
): Promise<string | undefined> {
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
    { world, organization: organization_id, credential_id },
    { url: row.url ?? "", defaultExtension: "csv", timeoutMs: fetchTimeoutMs, signal: world.stopping },
  );
  // Plain text was inspected by the same rules as CSV, and many servers declare CSV as plain text.
  if (!["text/csv", "text/plain"].includes(received.content_type)) {
    await discardFile(world, received);
    throw new UnreadableFileError(
      `The URL leads to ${received.content_type}, not to a CSV file: use a URL that returns the file itself.`,
    );
  }
  await world.database.transaction(async (tx) => {
    const { id } = await commitUpload({ tx, world }, received, false);
    await tx
      .updateTable("imports")
      .set({ upload_id: id })
      .where("organization_id", "=", organization_id)
      .where("id", "=", import_id)
      .execute();
  });
  return received.key;
}

async function readPosition({ organization_id, import_id }: ImportId, world: World): Promise<number> {
  const { position } = await world.database.queries
    .selectFrom("imports")
    .select("position")
    .where("organization_id", "=", organization_id)
    .where("id", "=", import_id)
    .executeTakeFirstOrThrow();
  return position;
}

/** Ends the import, with the reason if it failed; does nothing if it has ended already. */
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
