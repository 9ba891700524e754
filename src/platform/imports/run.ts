/**
 * Does an import: reads on from where the last batch was committed.
 *
 * A batch and its progress commit together, so a crash loses nothing and repeats nothing. A row that can't
 * be taken is reported and passed over; a file that can't be read on ends the import, and what was done
 * until then stays.
 */
import { Failure } from "../../../tools/failure.ts";
import { maxImportRows } from "../../../tools/imports.ts";
import type { Transaction } from "../../database/database.ts";
import type { Outcome } from "../../jobs/job.ts";
import { changeContact, findOrCreateContact } from "../contacts/index.ts";
import type { Work } from "../core/module.ts";
import type { World } from "../core/world.ts";
import { discard, fetchFile, getUpload, keep } from "../uploads/index.ts";
import { CsvBroken, type CsvRow, readCsv } from "./csv.ts";
import { type Person, Rejected, readHeader, readPerson } from "./row.ts";

interface Payload {
  readonly organization_id: string;
  readonly import_id: string;
}

/** Rows of one transaction: short enough not to be in anyone's way, long enough to be quick. */
const batchRows = 200;
const keptErrors = 1_000;

/** The import can't go on, and why. */
class Unreadable extends Error {
  override readonly name = "Unreadable";
}

export const runImport: Work<Payload> = {
  name: "import.run",

  async run(payload, world, attempt) {
    try {
      return await importAll(payload, world, attempt.signal);
    } catch (error) {
      if (!(error instanceof Unreadable || error instanceof CsvBroken || isRefusal(error))) {
        throw error;
      }
      await finish(world, payload, error.message);
      return undefined;
    }
  },

  async exhausted(payload, world) {
    await finish(world, payload, "Something went wrong here; import the file again.");
  },
};

/** What the caller's file or address did, and not we. */
function isRefusal(error: unknown): error is Failure {
  return error instanceof Failure && error.status < 500;
}

async function importAll(payload: Payload, world: World, signal: AbortSignal): Promise<Outcome> {
  const key = await sourceOf(payload, world);
  const file = key === undefined ? undefined : await world.storage.read(key);
  if (!file) {
    return finish(world, payload, key === undefined ? null : "The file is not there any more.");
  }
  const isWhole = await readRows(payload, world, { file, signal });
  return isWhole ? finish(world, payload, null) : { againAt: world.now() };
}

interface Reading {
  readonly file: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
}

/** Commits batch after batch; false if it was told to stop before the end. @throws Unreadable, CsvBroken */
async function readRows(payload: Payload, world: World, { file, signal }: Reading): Promise<boolean> {
  const done = await positionOf(payload, world);
  let columns: ReturnType<typeof readHeader>;
  let batch: CsvRow[] = [];
  // The header is row 0.
  let read = -1;
  const flush = async () => {
    if (columns && batch.length > 0) {
      await commit(payload, world, { columns, batch, before: read - batch.length });
    }
    batch = [];
  };
  try {
    for await (const row of readCsv(file)) {
      columns ??= requireColumns(row);
      if (read >= maxImportRows) {
        throw new Unreadable(`The file has more than ${maxImportRows} rows; those were imported.`);
      }
      read += 1;
      if (read > done) {
        batch.push(row);
      }
      if (batch.length === batchRows) {
        await flush();
        if (signal.aborted) {
          return false;
        }
      }
    }
  } catch (error) {
    if (error instanceof CsvBroken || error instanceof Unreadable) {
      await flush();
    }
    throw error;
  }
  if (!columns) {
    throw new Unreadable("The file is empty.");
  }
  await flush();
  return true;
}

/** @throws Unreadable */
function requireColumns({ cells }: CsvRow) {
  const columns = readHeader(cells);
  if (!columns) {
    throw new Unreadable("There is no column named phone_number or phone in the first line.");
  }
  return columns;
}

/** The key of the file, fetched first if it is at an address; undefined when the import has ended. */
async function sourceOf({ organization_id, import_id }: Payload, world: World): Promise<string | undefined> {
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
    { url: row.url ?? "", content_type: undefined },
  );
  if (received.content_type !== "text/csv") {
    await discard(world, received);
    throw new Unreadable(`The address leads to ${received.content_type}, and not to a CSV file.`);
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

async function positionOf({ organization_id, import_id }: Payload, world: World): Promise<number> {
  const { position } = await world.database.queries
    .selectFrom("imports")
    .select("position")
    .where("organization_id", "=", organization_id)
    .where("id", "=", import_id)
    .executeTakeFirstOrThrow();
  return position;
}

interface Batch {
  readonly columns: NonNullable<ReturnType<typeof readHeader>>;
  readonly batch: readonly CsvRow[];
  /** Rows before it. */
  readonly before: number;
}

async function commit(
  { organization_id, import_id }: Payload,
  world: World,
  { columns, batch, before }: Batch,
) {
  await world.database.transaction(async (tx) => {
    const now = world.now();
    const row = await tx
      .selectFrom("imports")
      .selectAll()
      .where("organization_id", "=", organization_id)
      .where("id", "=", import_id)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (row.position !== before) {
      throw new Error(`import ${import_id} is at ${row.position} and not at ${before}: another run has it`);
    }
    const counts = { created: 0, updated: 0, rejected: 0 };
    const errors = [...row.errors];
    for (const { line, cells } of batch) {
      const person = readOrReason(columns, cells);
      const outcome =
        typeof person === "string" ? "rejected" : await upsert(tx, organization_id, person, now);
      counts[outcome] += 1;
      if (typeof person === "string" && errors.length < keptErrors) {
        errors.push({ line, reason: person });
      }
    }
    await tx
      .updateTable("imports")
      .set({
        position: before + batch.length,
        created: row.created + counts.created,
        updated: row.updated + counts.updated,
        rejected: row.rejected + counts.rejected,
        errors: JSON.stringify(errors),
        updated_at: now.toISOString(),
      })
      .where("organization_id", "=", organization_id)
      .where("id", "=", import_id)
      .execute();
  });
}

function readOrReason(columns: Batch["columns"], cells: readonly string[]): Person | string {
  try {
    return readPerson(columns, cells);
  } catch (error) {
    if (error instanceof Rejected) {
      return error.message;
    }
    throw error;
  }
}

/** What the file does not name stays as it is. */
async function upsert(tx: Transaction, organization: string, person: Person, now: Date) {
  const { phone_number, name, metadata } = person;
  const { contact, created } = await findOrCreateContact(tx, {
    organization,
    phone_number,
    name,
    metadata,
    now,
  });
  const tags = [...new Set([...contact.tags, ...person.tags])];
  const changes = {
    ...(created || name === undefined ? {} : { name }),
    ...(created || Object.keys(metadata).length === 0
      ? {}
      : { metadata: { ...contact.metadata, ...metadata } }),
    ...(tags.length > contact.tags.length ? { tags } : {}),
  };
  if (Object.keys(changes).length > 0) {
    await changeContact(tx, organization, contact.id, changes, now);
  }
  return created ? "created" : "updated";
}

/** Ends the import, well or with the reason why not; nothing happens to one that has ended. */
async function finish(
  world: World,
  { organization_id, import_id }: Payload,
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
