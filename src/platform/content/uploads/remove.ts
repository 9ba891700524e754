/** Deletes files from the store: files of deleted uploads, and files that never became uploads. */

import { z } from "zod";
import { fail } from "../../../../tools/errors.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { newJob } from "../../../jobs/job.ts";
import {
  defineJob,
  defineScheduledJob,
  type Transaction,
  type World,
  type WriteContext,
} from "../../foundation/kernel/index.ts";
import { getAccessibleUpload } from "./access.ts";
import { discardFile } from "./receive.ts";

/** Receiving a file never takes longer. */
const maxReceiveMs = 3_600_000;
/** Unfinished uploads that are read at once. */
const batchSize = 1_000;

/** @throws Failure `upload_not_found`, `insufficient_scope`. */
export async function deleteUpload(context: WriteContext, id: string): Promise<void> {
  await getAccessibleUpload(context.tx, context.caller, id, "id");
  if (!(await removeUpload(context, id))) {
    throw fail("upload_not_found", { param: "id" });
  }
}

/**
 * Deletes an upload if it exists. The store is not part of the transaction, so a job deletes the file after
 * the commit.
 */
export async function removeUpload(
  { tx, organization }: Pick<WriteContext, "tx" | "organization">,
  id: string,
): Promise<boolean> {
  const deleted = await ofOrganization(tx, organization)
    .deleteFrom("uploads")
    .where("id", "=", id)
    .where("status", "=", "kept")
    .returning("key")
    .executeTakeFirst();
  if (deleted) {
    await tx.enqueue([newJob(removeFileJob, { organization_id: organization, key: deleted.key })]);
  }
  return deleted !== undefined;
}

/**
 * Withdraws the files with these keys: they can't be opened after the commit, and the job that deletes
 * unfinished uploads deletes them.
 */
export async function withdrawFiles(
  tx: Transaction,
  organization: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.length > 0) {
    await ofOrganization(tx, organization)
      .updateTable("uploads")
      .set({ status: "arriving", credential_id: null })
      .where("status", "=", "kept")
      .where("key", "in", keys)
      .execute();
  }
}

export const removeFileJob = defineJob({
  name: "upload.remove",
  // Version 0.1.0 stored only the key.
  payload: z.object({ organization_id: z.string().optional(), key: z.string() }),

  async run({ key }, world) {
    await world.storage.delete(key);
    return undefined;
  },
});

/** Deletes the files of processes that were killed before the upload was recorded. */
export const deleteUnfinishedUploadsJob = defineScheduledJob({
  name: "upload.forget",
  schedule: "17 * * * *",

  async run(world) {
    const before = new Date(world.now().getTime() - maxReceiveMs).toISOString();
    let hasMore = true;
    while (hasMore) {
      hasMore = await deleteUnfinished(world, before);
    }
  },
});

/**
 * Deletes a batch of files, and returns whether there may be more. A file that can't be deleted is left to
 * the next run; if no file of the batch can be deleted, so are all others.
 */
async function deleteUnfinished(world: World, before: string): Promise<boolean> {
  const unfinished = await world.database.queries
    .selectFrom("uploads")
    .select(["organization_id", "id", "key"])
    .where("status", "=", "arriving")
    .where("created_at", "<", before)
    .orderBy("created_at")
    .limit(batchSize)
    .execute();
  let failed = 0;
  for (const file of unfinished) {
    await discardFile(world, file).catch((error: unknown) => {
      failed += 1;
      world.log.error({ err: error, ...file }, "Deleting an unfinished upload failed");
    });
  }
  return unfinished.length === batchSize && failed < batchSize;
}
