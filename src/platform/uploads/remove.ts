/** Takes files out of the store: those that were deleted, and those that never became uploads. */
import { fail } from "../../../tools/errors.ts";
import type { ModuleJob, WriteContext } from "../kernel/index.ts";
import { discard } from "./receive.ts";

/** Longer than any file takes to arrive. */
const arrivesWithinMs = 3_600_000;

interface Removal {
  readonly key: string;
}

/** The store is no part of the transaction, so the file goes after it. @throws Failure `upload_not_found`. */
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
  const payload: Removal = { key: deleted.key };
  await world.jobs.enqueue(tx, { name: removal.name, payload, organization_id: organization });
}

export const removal: ModuleJob<Removal> = {
  name: "upload.remove",

  async run({ key }, world) {
    await world.storage.delete(key);
    return undefined;
  },
};

/** Files that never became uploads: their process was killed. */
export const forgetArrivals: ModuleJob<unknown> = {
  name: "upload.forget",
  schedule: "17 * * * *",

  async run(_, world) {
    const before = new Date(world.now().getTime() - arrivesWithinMs).toISOString();
    const left = await world.database.queries
      .selectFrom("uploads")
      .select(["organization_id", "id", "key"])
      .where("status", "=", "arriving")
      .where("created_at", "<", before)
      .limit(1000)
      .execute();
    for (const arrival of left) {
      await discard(world, arrival);
    }
    return undefined;
  },
};
