/**
 * Reads the rows of a CSV file in batches. Each batch is committed with the progress, so that reading
 * continues after a crash.
 */
import { Failure } from "../../../../tools/contract/index.ts";
import { maxImportRows } from "../../../../tools/imports.ts";
import { discardFile, fetchFile } from "../../content/uploads/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import type { Batch } from "./batch.ts";
import { type CsvRow, readCsv, UnreadableFileError } from "./csv.ts";
import type { ImportColumns } from "./row.ts";

/** The target duration of a transaction: on the embedded database it holds the only connection. */
const transactionMs = { embedded: 50, postgres: 200 };

/** Rows in one transaction. Larger batches cost no less per row. */
const batchSize = { min: 25, max: 200 };

/** Longer than for uploads, because no caller waits for the response. */
const fetchTimeoutMs = 120_000;

export interface RowReader {
  readonly world: World;
  /** The number of rows that were committed before. */
  readonly committed: number;
  /** The meaning of the columns. @throws UnreadableFileError, Failure */
  readHeader(cells: readonly string[]): ImportColumns;
  commit(batch: Batch): Promise<void>;
}

/** Commits the rows in batches; false if the service stops before the end. @throws UnreadableFileError */
export async function commitRows(file: AsyncIterable<Uint8Array>, reader: RowReader): Promise<boolean> {
  const batches = createBatches(reader);
  let columns: ImportColumns | undefined;
  // The header is row 0.
  let position = -1;
  try {
    for await (const row of readCsv(file)) {
      columns ??= reader.readHeader(row.cells);
      if (position >= maxImportRows) {
        throw new UnreadableFileError(
          `The file has more than ${maxImportRows} rows. The first ${maxImportRows} were read. Move the others to a separate file.`,
        );
      }
      position += 1;
      if (position > reader.committed && batches.add(row)) {
        await batches.commit(columns, position);
        if (reader.world.stopping.aborted) {
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
      "The file is empty: it needs a line with the column names, and one line for each contact. Add them.",
    );
  }
  await batches.commit(columns, position);
  return true;
}

/** Collects rows, and adapts the size of the batches to the duration of their transactions. */
function createBatches({ world, commit }: RowReader) {
  let rows: CsvRow[] = [];
  let size = batchSize.min;
  return {
    /** True when the batch is full. */
    add(row: CsvRow): boolean {
      rows.push(row);
      return rows.length >= size;
    },
    /** Commits the collected rows. `position` is the place of the last row. */
    async commit(columns: ImportColumns, position: number): Promise<void> {
      if (rows.length === 0) {
        return;
      }
      const startedAt = world.now().getTime();
      await commit({ columns, rows, start: position - rows.length });
      const factor = transactionMs[world.database.engine] / (world.now().getTime() - startedAt);
      size = Math.max(batchSize.min, Math.min(batchSize.max, Math.floor(rows.length * factor)));
      rows = [];
    },
  };
}

/**
 * The message for the user if the file or its URL caused the error; undefined for an internal error. `next`
 * says what to do once the file is corrected.
 */
export function explainFileError(error: unknown, next: string): string | undefined {
  if (error instanceof UnreadableFileError) {
    return `${error.message} ${next}`;
  }
  if (error instanceof Failure && error.status < 500) {
    const { message, fix } = error.body().error;
    return `${message} ${fix}`;
  }
  return undefined;
}

/** Downloads a CSV file that is not an upload yet. @throws UnreadableFileError, Failure */
export async function fetchCsv(
  world: World,
  {
    organization_id,
    credential_id,
  }: { readonly organization_id: string; readonly credential_id: string | null },
  url: string,
) {
  const received = await fetchFile(
    { world, organization: organization_id, credential_id },
    { url, defaultExtension: "csv", timeoutMs: fetchTimeoutMs, signal: world.stopping },
  );
  // Plain text was inspected by the same rules as CSV, and many servers declare CSV as plain text.
  if (!["text/csv", "text/plain"].includes(received.content_type)) {
    await discardFile(world, received);
    throw new UnreadableFileError(
      `The URL leads to ${received.content_type}, not to a CSV file: use a URL that returns the file itself.`,
    );
  }
  return received;
}
