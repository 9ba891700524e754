/** Deletes files from the store: those of deleted uploads, and those that never became uploads. */
import { fail } from "../../../tools/errors.ts";
import type { ModuleJob, WriteContext } from "../kernel/index.ts";
import { discardFile } from "./receive.ts";

/** Longer than receiving any file takes. */
const maxReceiveMs = 3_600_000;

interface RemoveFilePayload {
  readonly key: string;
}

/** The store is not part of the transaction, so a job deletes the file after it. @throws Failure `upload_not_found`. */
export async function deleteUpload({ tx, world, organization }: WriteContext, id: string): Promise<void> {
  const deleted = await tx
    .deleteFrom("uploads")
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .where("status", "=", "kept")
    .returning("key")
    .executeTakeFirst();
  if (!deleted) {
    throw fail("upload_not_found", { param: "id" });
  }
  const payload: RemoveFilePayload = { key: deleted.key };
  await world.jobs.enqueue(tx, { name: removeFileJob.name, payload, organization_id: organization });
}

export const removeFileJob: ModuleJob<RemoveFilePayload> = {
  name: "upload.remove",

  async run({ key }, world) {
    await world.storage.delete(key);
    return undefined;
  },
};

/** Deletes the files of processes that were killed before the upload was recorded. */
export const deleteUnfinishedUploadsJob: ModuleJob<unknown> = {
  name: "upload.forget",
  schedule: "17 * * * *",

  async run(_, world) {
    const before = new Date(world.now().getTime() - maxReceiveMs).toISOString();
    const unfinished = await world.database.queries
      .selectFrom("uploads")
      .select(["organization_id", "id", "key"])
      .where("status", "=", "arriving")
      .where("created_at", "<", before)
      .limit(1000)
      .execute();
    for (const file of unfinished) {
      await discardFile(world, file);
    }
    return undefined;
  },
};
