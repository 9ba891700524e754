/**
 * The job that runs an import: continues after the last committed batch.
 *
 * A batch and its progress are committed together, so a crash neither loses nor repeats rows. An invalid row
 * is reported and skipped. A file that can't be read further ends the import; the rows before stay imported.
 */
import { z } from "zod";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Outcome } from "../../../jobs/job.ts";
import { LaterBudgets } from "../../account/rules/index.ts";
import { commitUpload, getUpload } from "../../content/uploads/index.ts";
import { defineJob, type World } from "../../foundation/kernel/index.ts";
import { commitBatch, ImportId } from "./batch.ts";
import { type ImportColumns, readHeader } from "./row.ts";
import { commitRows, explainFileError, fetchCsv } from "./rows.ts";
import { rejectTags } from "./tags.ts";

/** An import that an earlier version queued has only its id. */
const ImportJob = ImportId.extend({
  /** The key or the user that started the import, and owns a file that the import fetches. */
  credential_id: z.string().nullable().default(null),
  may_set_tags: z.boolean().default(true),
  ...LaterBudgets.shape,
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
      const failure = explainFileError(error, "Then import the file again.");
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

async function importFile(payload: ImportJob, world: World): Promise<Outcome> {
  const key = await resolveSource(payload, world);
  const file = key === undefined ? undefined : await world.storage.read(key);
  if (!file) {
    return finish(world, payload, key === undefined ? null : "The file no longer exists: upload it again.");
  }
  const isComplete = await commitRows(file, {
    world,
    committed: await readPosition(payload, world),
    readHeader: (cells) => readColumns(cells, payload),
    commit: (batch) => commitBatch(payload, world, batch),
  });
  return isComplete ? finish(world, payload, null) : { runAgainAt: world.now() };
}

/** @throws UnreadableFileError; Failure `tags_not_permitted`. */
function readColumns(cells: readonly string[], { may_set_tags }: ImportJob): ImportColumns {
  const columns = readHeader(cells);
  if (!may_set_tags) {
    rejectTags(columns);
  }
  return columns;
}

/**
 * The key of the file. If the import has a URL, the file is downloaded first. Undefined if the import has
 * ended.
 */
async function resolveSource(payload: ImportJob, world: World): Promise<string | undefined> {
  const { organization_id, import_id } = payload;
  const row = await begin(payload, world);
  if (!row) {
    return undefined;
  }
  if (row.upload_id !== null) {
    return (await getUpload(world.database.queries, organization_id, row.upload_id)).key;
  }
  const received = await fetchCsv(world, payload, row.url ?? "");
  await world.database.transaction(async (tx) => {
    const { id } = await commitUpload({ tx, world }, received, false);
    await ofOrganization(tx, organization_id)
      .updateTable("imports")
      .set({ upload_id: id })
      .where("id", "=", import_id)
      .execute();
  });
  return received.key;
}

/** The source of the import, which runs from now on. Undefined if the import has ended. */
async function begin({ organization_id, import_id }: ImportId, world: World) {
  return world.database.transaction(async (tx) => {
    const row = await ofOrganization(tx, organization_id)
      .selectFrom("imports")
      .select(["status", "upload_id", "url"])
      .where("id", "=", import_id)
      .where("status", "in", ["queued", "running"])
      .forUpdate()
      .executeTakeFirst();
    // It runs already if an earlier run of the job was interrupted.
    if (row?.status === "queued") {
      await ofOrganization(tx, organization_id)
        .updateTable("imports")
        .set({ status: "running", updated_at: world.now().toISOString() })
        .where("id", "=", import_id)
        .execute();
      tx.emit({ type: "import.started", organization_id, order: import_id, data: { import_id } });
    }
    return row;
  });
}

async function readPosition({ organization_id, import_id }: ImportId, world: World): Promise<number> {
  const { position } = await ofOrganization(world.database.queries, organization_id)
    .selectFrom("imports")
    .select("position")
    .where("id", "=", import_id)
    .executeTakeFirstOrThrow();
  return position;
}

/** Ends the import, with the reason if it failed. Does nothing if the import has already ended. */
async function finish(
  world: World,
  { organization_id, import_id }: ImportId,
  failure: string | null,
): Promise<undefined> {
  const now = world.now().toISOString();
  await world.database.transaction(async (tx) => {
    const ended = await ofOrganization(tx, organization_id)
      .updateTable("imports")
      .set({ status: failure === null ? "done" : "failed", failure, updated_at: now, finished_at: now })
      .where("id", "=", import_id)
      .where("status", "in", ["queued", "running"])
      .returning(["position as total", "created", "updated", "rejected"])
      .executeTakeFirst();
    if (ended) {
      const event = { organization_id, order: import_id };
      const data = { import_id, ...ended };
      tx.emit(
        failure === null
          ? { ...event, type: "import.completed", data }
          : { ...event, type: "import.failed", data: { ...data, failure } },
      );
    }
  });
}
